// The config parser on files that are half written, truncated or mutated: a config, or a HubError with the reason.

import { expect, it } from "vitest";
import { parseGroupDocument, parseServerDocument, toServers } from "../../hub/src/config/parse/documents.ts";
import { addServer } from "../../hub/src/config/edit/server-changes.ts";
import { HubError } from "../../hub/src/errors.ts";
import { fuzz, FUZZ_MS } from "./fuzz.ts";

const CORPUS = [
  '{"mcpServers":{"a":{"command":"npx","args":["-y","@scope/pkg@1.0"],"env":{"K":"${V}"}},"b":{"url":"https://e.org/mcp"}}}',
  '{\n  // comment\n  "servers": {\n    "x": { "type": "stdio", "command": "node", "args": [], "disabled": true, },\n  },\n}',
  '{"mcpServers":{"d":{"package":{"type":"docker","identifier":"img:1"},"env_vars":[{"name":"A","value":"1","required":true}]}}}',
  '{"mcpServers":{"h":{"type":"http","url":"http://127.0.0.1:1/mcp","headers":{"X-A":"b"},"timeouts":{"request_ms":1000}}}}',
  '{"groups":{"work":{"servers":["a","b"],"tools":{"a":["x","y*"]}},"all":{}}}',
  '{"groups":[{"name":"g","servers":["a"]}]}',
  "",
];

it("SE-5 CF-8 F37 any text is a config or a defined error, and no prototype changes", { timeout: FUZZ_MS }, () => {
  const keys = Object.keys(Object.getOwnPropertyDescriptors(Object.prototype)).join();
  const outcomes = fuzz({
    name: "config",
    corpus: CORPUS,
    quickRuns: 5000,
    check: (input) => {
      const text = input.toString();
      const groups = outcome(() => parseGroupDocument(text));
      const servers = outcome(() => toServers(parseServerDocument(text)));
      if (Object.keys(Object.getOwnPropertyDescriptors(Object.prototype)).join() !== keys) expect.fail("polluted");
      if (servers === undefined) return groups === undefined ? "refused" : "groups";
      // A config that can be loaded can be edited, and the edit keeps its content.
      const entry = { name: "fuzz-new", command: "x" };
      const [added] = toServers(parseServerDocument(JSON.stringify({ mcpServers: { "fuzz-new": entry } })));
      if (added === undefined) return expect.fail("no server");
      const edited = outcome(() => addServer(text, added, entry));
      if (edited !== undefined) {
        const names = toServers(parseServerDocument(edited)).map(({ name }) => name);
        expect(names).toEqual([...servers.map(({ name }) => name), "fuzz-new"]);
      }
      return servers.length > 0 ? "servers" : "empty";
    },
  });
  expect(new Set(outcomes.keys())).toEqual(new Set(["refused", "groups", "servers", "empty"]));
});

function outcome<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof HubError && error.kind !== "Unexpected") return undefined;
    throw error;
  }
}
