// The rules of ARCHITECTURE.md that can be checked automatically: imports between folders, and what must not occur.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** An importing file, its import, and whether the linter allows it. */
const IMPORTS: readonly (readonly [path: string, imported: string, verdict: "allowed" | "refused"])[] = [
  ["shared/src/a.ts", "../../hub/src/errors.ts", "refused"],
  ["shared/src/sqlite/b.ts", "../../../chat/src/errors.ts", "refused"],
  ["shared/src/c.ts", "plugboard-chat/cli", "refused"],
  ["shared/src/sqlite/ok.ts", "../error-code.ts", "allowed"],
  ["hub/src/lib/a.ts", "../config/schema/types.ts", "refused"],
  ["hub/src/lib/json/b.ts", "../../protocol/rpc/jsonrpc.ts", "refused"],
  ["hub/src/lib/ok.ts", "../errors.ts", "allowed"],
  ["hub/src/protocol/rpc/a.ts", "../../servers/server.ts", "refused"],
  ["hub/src/protocol/connect/b.ts", "../../config/schema/types.ts", "refused"],
  ["hub/src/protocol/serve/c.ts", "../../http/node-response.ts", "refused"],
  ["hub/src/protocol/serve/ok.ts", "../../lib/json/json.ts", "allowed"],
  ["hub/src/http/a.ts", "../mcp/http.ts", "refused"],
  ["hub/src/http/ok.ts", "../protocol/serve/http-response.ts", "allowed"],
  ["hub/src/network/a.ts", "../auth/grant.ts", "refused"],
  ["hub/src/network/ok.ts", "../http/listener.ts", "allowed"],
  ["hub/src/catalog/a.ts", "../protocol/rpc/jsonrpc.ts", "refused"],
  ["hub/src/catalog/b.ts", "node:fs", "refused"],
  ["hub/src/catalog/ok.ts", "../config/schema/types.ts", "allowed"],
  ["hub/src/config/parse/a.ts", "../../secrets/store.ts", "refused"],
  ["hub/src/config/files/ok.ts", "../../lib/files/atomic.ts", "allowed"],
  ["hub/src/secrets/a.ts", "../config/schema/types.ts", "refused"],
  ["hub/src/redaction/a.ts", "../config/schema/types.ts", "refused"],
  ["hub/src/servers/a.ts", "../mcp/endpoint.ts", "refused"],
  ["hub/src/servers/b.ts", "../hub/hub.ts", "refused"],
  ["hub/src/servers/npm/c.ts", "../../mcp/endpoint.ts", "refused"],
  ["hub/src/servers/process/ok.ts", "../../protocol/connect/peer.ts", "allowed"],
  ["hub/src/calls/a.ts", "../cli/commands/up.ts", "refused"],
  ["hub/src/calls/ok.ts", "../telemetry/tracing.ts", "allowed"],
  ["hub/src/call-log/sqlite/a.ts", "../../calls/call.ts", "refused"],
  ["hub/src/call-log/b.ts", "../servers/server.ts", "refused"],
  ["hub/src/call-log/sqlite/ok.ts", "@plugboard/shared/sqlite/driver", "allowed"],
  ["hub/src/config/files/c.ts", "@plugboard/shared/sqlite/driver", "refused"],
  ["hub/src/servers/d.ts", "../live/catalog.ts", "refused"],
  ["hub/src/mcp/a.ts", "../cli/commands/up.ts", "refused"],
  ["hub/src/mcp/lists/b.ts", "../../hub/hub.ts", "refused"],
  ["hub/src/mcp/ok.ts", "../calls/call.ts", "allowed"],
  ["hub/src/mcp/c.ts", "../cluster/sessions.ts", "refused"],
  ["hub/src/cluster/a.ts", "../database/open.ts", "refused"],
  ["hub/src/cluster/ok.ts", "../mcp/session-routing.ts", "allowed"],
  ["hub/src/api/server/a.ts", "../../hub/hub.ts", "refused"],
  ["hub/src/api/server/routes/b.ts", "../../../mcp/endpoint.ts", "refused"],
  ["hub/src/client-configs/a.ts", "../cli/hub-access/hub-access.ts", "refused"],
  ["hub/src/client-configs/import/b.ts", "../../secrets/store.ts", "refused"],
  ["hub/src/client-configs/ok.ts", "../config/parse/normalize.ts", "allowed"],
  ["hub/src/bridge/a.ts", "undici", "refused"],
  ["hub/src/auth/a.ts", "../api/client/client.ts", "refused"],
  ["hub/src/auth/ok.ts", "../oauth/types.ts", "allowed"],
  ["hub/src/oauth/a.ts", "../config/schema/types.ts", "refused"],
  ["hub/src/oauth/b.ts", "../protocol/connect/lookup.ts", "refused"],
  ["hub/src/oauth/c.ts", "../secrets/store.ts", "refused"],
  ["hub/src/oauth/ok.ts", "../lib/json/json.ts", "allowed"],
  ["hub/src/servers/login/ok.ts", "../../oauth/types.ts", "allowed"],
  ["hub/src/api/server/c.ts", "../../oauth/types.ts", "refused"],
  ["hub/src/protocol/connect/d.ts", "../../oauth/types.ts", "refused"],
  ["hub/src/telemetry/a.ts", "../servers/server.ts", "refused"],
  ["hub/src/telemetry/b.ts", "../calls/call.ts", "refused"],
  ["hub/src/telemetry/ok.ts", "../lib/json/json.ts", "allowed"],
  ["chat/src/model/a.ts", "../access/reader.ts", "refused"],
  ["chat/src/store/a.ts", "../mcp/server.ts", "refused"],
  ["chat/src/store/ok.ts", "../model/store-port.ts", "allowed"],
  ["chat/src/store/sql.ts", "@plugboard/shared/sqlite/driver", "allowed"],
  ["chat/src/access/sql.ts", "@plugboard/shared/sqlite/driver", "refused"],
  ["chat/src/importers/a.ts", "../store/store.ts", "refused"],
  ["chat/src/importers/telegram/b.ts", "../../access/reader.ts", "refused"],
  ["chat/src/importers/telegram/ok.ts", "../../model/source.ts", "allowed"],
  ["chat/src/sources/xmpp/a.ts", "../../store/store.ts", "refused"],
  ["chat/src/sources/xmpp/ok.ts", "../../model/source.ts", "allowed"],
  ["chat/src/tools/a.ts", "../store/store.ts", "refused"],
  ["chat/src/tools/ok.ts", "../access/reader.ts", "allowed"],
  ["chat/src/live/a.ts", "../mcp/server.ts", "refused"],
];

describe("the linter enforces the direction of imports", () => {
  let folder: string;
  const refused = new Set<string>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "plugboard-lint-"));
    await cp(join(ROOT, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
    for (const [path, imported] of IMPORTS) {
      const file = join(folder, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, `import { thing } from "${imported}";\n\nexport const other = thing;\n`);
    }
    const output = await new Promise<string>((resolve) => {
      const oxlint = join(ROOT, "node_modules/.bin/oxlint");
      execFile(oxlint, ["--format", "json", "."], { cwd: folder }, (_error, stdout) => resolve(stdout));
    });
    const { diagnostics } = JSON.parse(output) as { diagnostics: { code: string; filename: string }[] };
    for (const { code, filename } of diagnostics) if (code.includes("no-restricted-imports")) refused.add(filename);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(IMPORTS)("%s importing %s is %s", (path, _imported, verdict) => {
    expect(refused.has(path) ? "refused" : "allowed").toBe(verdict);
  });
});

describe("forbidden patterns in the sources", () => {
  const sources = ["hub/src", "shared/src"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
      .map((path) => ({ path: `${folder}/${path}`, text: readFileSync(join(ROOT, folder, path), "utf8") })),
  );
  const having = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

  it("there are sources", () => expect(sources.length).toBeGreaterThan(60));

  it("process.env is read in two places and handed down", () => {
    expect(having(/^[^*\n]*process\.env/m).toSorted()).toEqual([
      "hub/src/main.ts",
      "hub/src/servers/process/environment.ts",
    ]);
  });

  it("there is no mutable state at module level", () => expect(having(/^(?:export )?(?:let|var) /m)).toEqual([]));

  it("only the output module prints", () => expect(having(/\bconsole\./)).toEqual([]));

  it("no SDK is on the data path", () => expect(having(/from "@modelcontextprotocol\//)).toEqual([]));

  it("no decision depends on the text of an error", () => {
    // The database binding for Node 20 has no error codes: one table matches the beginnings of its messages.
    expect(having(/(?:\.message|String\(e(?:rr(?:or)?)?\))\.(?:includes|startsWith|match)\(/)).toEqual([
      "shared/src/sqlite/driver.ts",
    ]);
  });
});

describe("the packages that users install", () => {
  it("need no install script, except for one with a prebuilt binary", () => {
    const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")).packages as Record<
      string,
      { dev?: boolean; hasInstallScript?: boolean }
    >;
    const scripted = Object.entries(lock).filter(
      ([, { dev, hasInstallScript }]) => hasInstallScript === true && dev !== true,
    );
    // Its install script only looks for a prebuilt binary, which the package contains: it works with --ignore-scripts.
    expect(scripted.map(([path]) => path)).toEqual(["node_modules/@photostructure/sqlite"]);
  });
});
