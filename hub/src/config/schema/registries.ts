// `registries` of `hub.json`: where servers are found. registry/configured.ts completes it.

import * as z from "zod/mini";
import { secretEntry } from "./auth.ts";
import * as limits from "./limits.ts";
import * as rule from "./text.ts";

/** Registries that need no settings. */
export const BUILT_IN = ["curated", "official", "docker", "smithery"] as const;

export const REGISTRY_TYPES = ["official", "docker", "smithery", "mirror"] as const;

const line = (what: string) => rule.text(what, { max: limits.URL_MAX, oneLine: true }).check(z.minLength(1));

const name = z
  .string()
  .check(z.regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "the name of a registry has lower-case letters, digits and -"));

const builtIn = z.enum(BUILT_IN, { error: `a registry is ${BUILT_IN.join(", ")}, or an object with name and url` });

const registry = z.strictObject({
  name,
  type: z.optional(z.enum(REGISTRY_TYPES, { error: `type must be ${REGISTRY_TYPES.join(", ")}` })),
  /** Of its API; for Docker's catalogue, of the file. */
  url: z.optional(line("url")),
  /** A folder in place of an address. */
  path: z.optional(line("path")),
  key: z.optional(secretEntry),
});

export type RegistryEntry = z.infer<typeof registry> | (typeof BUILT_IN)[number];

export const registrySettings = {
  /** In the order in which they are asked. Given, they replace the built-in ones. */
  registries: z.optional(
    z.array(z.union([builtIn, registry])).check(
      z.maxLength(20),
      z.refine((list) => {
        const names = list.map((each) => (typeof each === "string" ? each : each.name));
        return new Set(names).size === names.length;
      }, "the names of registries must be unique"),
      z.refine(
        (list) => list.every((each) => typeof each === "string" || each.url === undefined || each.path === undefined),
        "a registry has either a url or a path",
      ),
    ),
  ),
  /** A folder (plugboard registry mirror) that the hub serves at /registry/v0.1. */
  registry_mirror: z.optional(line("registry_mirror")),
};
