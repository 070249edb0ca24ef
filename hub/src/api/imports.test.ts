// Neither the start of the hub nor a client loads the web framework, which takes longer to load than everything else.

import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const HERE = dirname(fileURLToPath(import.meta.url));

/** Every module that is loaded with a file, by path or by package name. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  const path = join(HERE, file);
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(path, "utf8");
  for (const [, what = "", from = ""] of text.matchAll(/^(?:import|export) ([^;]*?)from "([^"]+)";$/gms)) {
    if (what.startsWith("type ")) continue;
    if (from.startsWith(".")) loadedBy(relative(HERE, join(dirname(path), from)), seen);
    else seen.add(from);
  }
  return seen;
}

/** Packages outside the workspace; the shared workspace is bundled. */
const packages = (file: string) =>
  [...loadedBy(file)].filter((name) => !/^(?:node:|@plugboard\/|.*\.ts$)/.test(name)).toSorted();

it("the server loads no framework before the first request", () => {
  expect(packages("server/app.ts")).toEqual([]);
  expect(packages("server/rest.ts")).toContain("hono");
});

it("the client loads neither the framework nor the server", () => {
  const loaded = [...loadedBy("client/client.ts")];
  expect(loaded.filter((name) => name.endsWith(".ts")).toSorted()).toEqual(
    [
      "client/approvals-client.ts",
      "client/calls-client.ts",
      "client/chats-client.ts",
      "client/client.ts",
      "client/config-client.ts",
      "client/connection.ts",
      "client/connections-client.ts",
      "client/grants-client.ts",
      "client/groups-client.ts",
      "client/logins-client.ts",
      "client/machine-client.ts",
      "client/received-events.ts",
      "client/request-parts.ts",
      "client/request.ts",
      "client/registry-client.ts",
      "client/secrets-client.ts",
      "client/server-approvals-client.ts",
      "client/servers-client.ts",
      "client/tokens-client.ts",
      "client/users-client.ts",
      "../errors.ts",
      "../lib/json/json.ts",
    ].toSorted(),
  );
  expect(packages("client/client.ts")).toEqual([]);
});
