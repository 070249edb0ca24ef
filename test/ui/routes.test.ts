// The web interface can do what the API can: every route is used by it, or listed with the reason.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EventLog } from "../../hub/src/api/server/live/event-log.ts";
import { EventStreams } from "../../hub/src/api/server/live/event-streams.ts";
import type { Route } from "../../hub/src/api/server/route.ts";
import { createRoutes } from "../../hub/src/api/server/route-table.ts";
import { ROUTES } from "../../ui/src/routes-map.ts";

const SOURCES = join(import.meta.dirname, "../../ui/src");

const sources = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((name) => /(?<!\.test)\.(?:ts|svelte)$/.test(name))
  .map((name) => ({ name, text: readFileSync(join(SOURCES, name), "utf8") }));

// Routes are data: they use the hub only when they run.
const routes = createRoutes(
  { hub: {}, paths: { data: "", state: "", config: "", cache: "" } } as never,
  new EventStreams(new EventLog()),
  {} as never,
);

const METHODS = { get: "get", post: "post", put: "put", patch: "patch", delete: "del" } as const;

/** A call in the sources: `api.get<Server>(pathTo…/servers/${name}…)`, `api.request("PUT", …)`, or a stream, which has its method elsewhere. */
function callOf({ method, path }: Pick<Route, "method" | "path">): RegExp {
  const segments = path.split("/").map((segment) => (segment.startsWith("{") ? String.raw`\$\{[^}]+\}` : segment));
  const functions = String.raw`(?:api\s*\.(?:${METHODS[method]}|stream)(?:<[^()]*?>)?\(|\.run\(|api\s*\.(?:request|send)(?:<[^()]*?>)?\(\s*"${method.toUpperCase()}",)`;
  const start = "\\s*(?:`\\$\\{)?(?:pathTo)?[\"'`]";
  const end = "(?:[\"'`?]|\\$\\{)";
  return new RegExp(`${functions}${start}${segments.join("/")}${end}`);
}

describe("MG-4 the web interface covers the API", () => {
  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))("%s", (_, route) => {
    const listed = ROUTES[route.id];
    const users = sources.filter(({ text }) => callOf(route).test(text)).map(({ name }) => name);
    if (listed === undefined) {
      expect(users, `${route.id} is neither used in ui/src nor listed in ui/src/routes-map.ts`).not.toEqual([]);
    } else if ("file" in listed) {
      expect(sources.map(({ name }) => name)).toContain(listed.file);
    } else {
      expect(users, `${route.id} is used, so that it needs no reason in ui/src/routes-map.ts`).toEqual([]);
    }
  });

  it("lists no route that is gone", () => {
    const known = routes.map(({ id }) => id);
    expect(Object.keys(ROUTES).filter((id) => !known.includes(id))).toEqual([]);
  });
});
