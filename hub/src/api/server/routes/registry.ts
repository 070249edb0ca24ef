// Registries: search, details, and adding a server.

import * as z from "zod/mini";
import type { RegistryCommands } from "../commands/registry.ts";
import { nameParam, routesOf, type Route } from "../route.ts";
import { describe } from "../../schemas/docs.ts";
import { integer } from "../../schemas/query.ts";
import { registry, registryAdd, registryAdded, registrySearch, registryServer } from "../../schemas/registry.ts";

const { get, post } = routesOf("registries");

const which = describe(z.optional(z.string()), "Its name, address or folder; default: all that are configured");

const searchQuery = z.strictObject({
  q: describe(z._default(z.string().check(z.maxLength(500)), ""), "Words that name, title or description must have"),
  registry: which,
  cursor: z.optional(z.string()),
  limit: z._default(integer({ min: 1, max: 100, description: "Of each registry" }), 30),
});

const serverQuery = z.strictObject({
  registry: which,
  version: describe(z.optional(z.string()), "An exact version; default: the newest"),
});

export function registryRoutes(registries: RegistryCommands): Route[] {
  return [
    get("/registries", "listRegistries", "The registries in which servers are found", {
      answer: z.array(registry),
      run: () => registries.list(),
    }),
    get("/registry/servers", "searchRegistries", "Search servers in registries", {
      query: searchQuery,
      answer: registrySearch,
      run: ({ query: { q, ...query }, signal }) => registries.search({ ...query, query: q, signal }),
    }),
    get(
      "/registry/servers/{name}",
      "getRegistryServer",
      "A server of a registry: what would be run, and what it needs",
      {
        params: nameParam,
        query: serverQuery,
        answer: registryServer,
        run: ({ params, query, signal }) => registries.get(params.name, { ...query, signal }),
      },
    ),
    post(
      "/registry/servers",
      "addRegistryServer",
      "Add a server of a registry. Secret values go to the secret store; without a required value nothing is saved",
      {
        body: registryAdd,
        status: 201,
        answer: registryAdded,
        versioned: true,
        run: ({ body, edit, signal }) => registries.add(body, { ...edit, signal }),
      },
    ),
  ];
}
