// The rules of ARCHITECTURE.md that a machine can check: who may import whom, and what is nowhere.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

describe("the direction of imports is enforced by the linter", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "plugboard-lint-"));
    await cp(join(ROOT, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function lint(path: string, imported: string): Promise<string> {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `import { thing } from "${imported}";\n\nexport const other = thing;\n`);
    return new Promise((resolve) => {
      execFile(join(ROOT, "node_modules/.bin/oxlint"), [file], { cwd: folder }, (_error, stdout) => resolve(stdout));
    });
  }

  it.each([
    ["hub/src/wire/a.ts", "../servers/server.ts"],
    ["hub/src/wire/b.ts", "../config/types.ts"],
    ["hub/src/catalog/a.ts", "../wire/json.ts"],
    ["hub/src/catalog/b.ts", "node:fs"],
    ["hub/src/config/a.ts", "../secrets/store.ts"],
    ["hub/src/secrets/a.ts", "../config/types.ts"],
    ["hub/src/servers/a.ts", "../mcp/endpoint.ts"],
    ["hub/src/servers/b.ts", "../hub.ts"],
    ["hub/src/servers/npm/c.ts", "../../mcp/endpoint.ts"],
    ["hub/src/calls/a.ts", "../cli/up.ts"],
    ["hub/src/mcp/a.ts", "../cli/up.ts"],
    ["hub/src/mcp/b.ts", "../hub.ts"],
    ["hub/src/api/a.ts", "../hub.ts"],
    ["hub/src/api/routes/b.ts", "../../mcp/endpoint.ts"],
    ["hub/src/clients/a.ts", "../cli/access.ts"],
    ["hub/src/clients/b.ts", "../secrets/store.ts"],
    ["hub/src/auth/a.ts", "../api/client.ts"],
    ["hub/src/store/a.ts", "../servers/server.ts"],
    ["hub/src/telemetry/a.ts", "../servers/server.ts"],
    ["hub/src/telemetry/b.ts", "../calls/call.ts"],
    ["chat/src/store/a.ts", "../mcp/server.ts"],
    ["chat/src/files/a.ts", "../store/store.ts"],
    ["chat/src/files/telegram/b.ts", "../../reader.ts"],
    ["chat/src/sources/xmpp/a.ts", "../../store/store.ts"],
    ["chat/src/tools/a.ts", "../store/store.ts"],
    ["chat/src/live/a.ts", "../mcp/server.ts"],
  ])("%s may not import %s", async (path, imported) => {
    expect(await lint(path, imported)).toContain("no-restricted-imports");
  });

  it.each([
    ["hub/src/wire/ok.ts", "../errors.ts"],
    ["hub/src/catalog/ok.ts", "../config/types.ts"],
    ["hub/src/config/ok.ts", "../atomic.ts"],
    ["hub/src/clients/ok.ts", "../config/normalize.ts"],
    ["hub/src/servers/ok.ts", "../wire/peer.ts"],
    ["hub/src/mcp/ok.ts", "../calls/call.ts"],
    ["hub/src/calls/ok.ts", "../telemetry/tracing.ts"],
    ["hub/src/telemetry/ok.ts", "../wire/json.ts"],
    ["chat/src/store/ok.ts", "../query.ts"],
    ["chat/src/files/telegram/ok.ts", "../../source.ts"],
    ["chat/src/sources/xmpp/ok.ts", "../../source.ts"],
    ["chat/src/tools/ok.ts", "../reader.ts"],
  ])("%s may import %s", async (path, imported) => {
    expect(await lint(path, imported)).not.toContain("no-restricted-imports");
  });
});

describe("what is nowhere in the sources", () => {
  const sources = readdirSync(join(ROOT, "hub/src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .map((path) => ({ path, text: readFileSync(join(ROOT, "hub/src", path), "utf8") }));
  const having = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

  it("there are sources", () => expect(sources.length).toBeGreaterThan(60));

  it("process.env is read in two places and handed down", () => {
    expect(having(/^[^*\n]*process\.env/m).toSorted()).toEqual(["main.ts", "servers/environment.ts"]);
  });

  it("nothing mutable stands at module level", () => expect(having(/^(?:export )?(?:let|var) /m)).toEqual([]));

  it("nobody prints past the command's own output", () => expect(having(/\bconsole\./)).toEqual([]));

  it("no SDK is on the data path", () => expect(having(/from "@modelcontextprotocol\//)).toEqual([]));

  it("nobody decides on the text of an error", () => {
    // The database binding for Node 20 gives its errors no code: one table reads their beginnings.
    expect(having(/(?:\.message|String\(e(?:rr(?:or)?)?\))\.(?:includes|startsWith|match)\(/)).toEqual([
      "store/driver.ts",
    ]);
  });
});

describe("the packages that users install", () => {
  it("need no install script, but for one that ships its binary inside", () => {
    const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")).packages as Record<
      string,
      { dev?: boolean; hasInstallScript?: boolean }
    >;
    const scripted = Object.entries(lock).filter(
      ([, { dev, hasInstallScript }]) => hasInstallScript === true && dev !== true,
    );
    // Its script only looks for a prebuilt binary, which is in the package: it works with --ignore-scripts.
    expect(scripted.map(([path]) => path)).toEqual(["node_modules/@photostructure/sqlite"]);
  });
});
