// Any file content gives a config or a HubError, never another exception or a polluted prototype.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HubError } from "../../errors.ts";
import { addServer } from "../edit/server-changes.ts";
import { parseGroupDocument, parseServerDocument, toServers } from "./documents.ts";
import { ConfigFiles } from "../files/config-files.ts";
import { normalizeServer } from "./normalize.ts";

/** Valid keys, so that inputs get past the first check. */
const KEYS =
  "mcpServers servers groups tools name id command args env env_vars envVars url headers type package identifier " +
  "transport Http source Official timeouts config auth oauth client_id clientSecret scopes idp value secret_ref required a API_KEY __proto__ constructor disabled";
const key = fc.constantFrom("", ...KEYS.split(" "));
const scalar = fc.oneof(
  fc.constantFrom("npm", "stdio", "http", "http://e.org", "ws://e.org", "x", "docker", "${A}", "", "-x", "@s/p@1"),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
);
const json = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5 },
    scalar,
    fc.array(tie("json"), { maxLength: 4 }),
    fc.dictionary(key, tie("json"), { maxKeys: 5 }),
  ),
})).json;
const document = fc
  .dictionary(fc.constantFrom("a", "b", "__proto__"), json, { maxKeys: 3 })
  .map((mcpServers) => ({ mcpServers }));
const jsonText = fc.oneof(json, document).map((value) => JSON.stringify(value) ?? "");
const anyText = fc.oneof(
  jsonText,
  fc.string({ unit: "binary" }),
  fc.json(),
  // Valid text with one piece removed or inserted.
  fc
    .tuple(jsonText, fc.nat(), fc.nat(20), fc.constantFrom("", "{", "]", '"', "/*", "//", ",", "\\", "\u2028"))
    .map(([text, at, length, piece]) => {
      const start = at % (text.length + 1);
      return text.slice(0, start) + piece + text.slice(start + length);
    }),
);

/** The result of a run, or undefined for an expected HubError. */
function outcome<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof HubError && error.kind !== "Unexpected") return undefined;
    throw error;
  }
}

describe("any input", () => {
  it("SE-5 any text is a config or a HubError", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        outcome(() => toServers(parseServerDocument(text)));
        outcome(() => parseGroupDocument(text));
        expect(Object.hasOwn(Object.prototype, "command")).toBe(false);
      }),
      { numRuns: 3000 },
    );
  });

  it("CF-8 any entry is rejected, or saved so that a load gives the same server", () => {
    const entry = fc.record(
      { name: fc.constantFrom("new", "a"), command: fc.constantFrom("x", undefined), more: json },
      { noNullPrototype: true },
    );
    const entries = fc.oneof(
      json,
      entry,
      fc.tuple(entry, json).map(([one, other]) => Object.assign({}, other, one)),
    );
    fc.assert(
      fc.property(entries, (given) => {
        const server = outcome(() => normalizeServer(undefined, given));
        if (server === undefined) return;
        const text = outcome(() => addServer(`{ "mcpServers": { "a": { "command": "x" } } }`, server, given));
        if (text === undefined) return;
        expect(toServers(parseServerDocument(text)).at(-1)).toEqual(server);
      }),
      { numRuns: 3000 },
    );
  });

  it("SE-5 any bytes in the files are a config or a HubError", async () => {
    const dir = await mkdtemp(join(tmpdir(), "plugboard-fuzz-"));
    try {
      const bytes = fc.oneof(fc.uint8Array({ maxLength: 60 }), anyText);
      await fc.assert(
        fc.asyncProperty(bytes, bytes, async (servers, groups) => {
          await writeFile(join(dir, "mcp_server.json"), servers);
          await writeFile(join(dir, "group.json"), groups);
          const failure = await new ConfigFiles(dir).load().then(
            () => undefined,
            (error: unknown) => error,
          );
          expect(failure === undefined || failure instanceof HubError).toBe(true);
        }),
        { numRuns: 300 },
      );
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});
