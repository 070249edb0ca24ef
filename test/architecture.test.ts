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
    const file = join(folder, "hub/src", path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `import { thing } from "${imported}";\n\nexport const other = thing;\n`);
    return new Promise((resolve) => {
      execFile(join(ROOT, "node_modules/.bin/oxlint"), [file], { cwd: folder }, (_error, stdout) => resolve(stdout));
    });
  }

  it.each([
    ["wire/a.ts", "../servers/server.ts"],
    ["wire/b.ts", "../config/types.ts"],
    ["catalog/a.ts", "../wire/json.ts"],
    ["catalog/b.ts", "node:fs"],
    ["config/a.ts", "../secrets/store.ts"],
    ["secrets/a.ts", "../config/types.ts"],
    ["servers/a.ts", "../mcp/endpoint.ts"],
    ["servers/b.ts", "../hub.ts"],
    ["calls/a.ts", "../cli/up.ts"],
    ["mcp/a.ts", "../cli/up.ts"],
    ["mcp/b.ts", "../hub.ts"],
    ["api/a.ts", "../hub.ts"],
    ["api/routes/b.ts", "../../mcp/endpoint.ts"],
    ["auth/a.ts", "../api/client.ts"],
    ["store/a.ts", "../servers/server.ts"],
    ["telemetry/a.ts", "../servers/server.ts"],
    ["telemetry/b.ts", "../calls/call.ts"],
  ])("%s may not import %s", async (path, imported) => {
    expect(await lint(path, imported)).toContain("no-restricted-imports");
  });

  it.each([
    ["wire/ok.ts", "../errors.ts"],
    ["catalog/ok.ts", "../config/types.ts"],
    ["config/ok.ts", "../atomic.ts"],
    ["servers/ok.ts", "../wire/peer.ts"],
    ["mcp/ok.ts", "../calls/call.ts"],
    ["calls/ok.ts", "../telemetry/tracing.ts"],
    ["telemetry/ok.ts", "../wire/json.ts"],
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
