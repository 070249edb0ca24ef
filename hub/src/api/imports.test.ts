// What is loaded with the hub, and with a client of it: not the web framework, which costs more to load than the rest.

import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const HERE = dirname(fileURLToPath(import.meta.url));

/** Every module that loading a file loads too, by path or by package name. */
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

const packages = (file: string) => [...loadedBy(file)].filter((name) => !/^(?:node:|.*\.ts$)/.test(name)).toSorted();

it("the edge loads no framework before the first request", () => {
  expect(packages("app.ts")).toEqual([]);
  expect(packages("rest.ts")).toContain("@hono/zod-openapi");
});

it("the client loads neither the framework nor the server's side", () => {
  const loaded = [...loadedBy("client.ts")];
  expect(loaded.filter((name) => name.endsWith(".ts")).toSorted()).toEqual(
    [
      "client.ts",
      "connection.ts",
      "received-events.ts",
      "request.ts",
      "../errors.ts",
      "../trim.ts",
      "../wire/json.ts",
      "../wire/sse.ts",
      "../wire/pieces.ts",
    ].toSorted(),
  );
  expect(packages("client.ts")).toEqual([]);
});
