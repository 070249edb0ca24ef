// Registries: what a search finds, what a server needs, and adding it.

import * as z from "zod/mini";
import { INPUT_FORMATS, OFFER_KINDS } from "../../registry/model.ts";
import { component, describe } from "./docs.ts";
import { errorBody } from "./error.ts";
import { json } from "./json.ts";
import { server } from "./server.ts";

const state = z.enum(["active", "deprecated", "deleted"]);

export const registry = component(
  "Registry",
  z.object({
    name: z.string(),
    type: z.enum(["curated", "official", "docker", "smithery", "mirror"]),
    location: describe(z.nullable(z.string()), "Its address or folder; null: it is part of the hub"),
    ready: describe(z.boolean(), "False: it needs a key that is not stored, and is asked only by name"),
  }),
);
export type RegistryView = z.infer<typeof registry>;

const foundServer = component(
  "RegistryServerSummary",
  z.object({
    registry: z.string(),
    name: z.string(),
    version: z.nullable(z.string()),
    title: z.nullable(z.string()),
    description: z.nullable(z.string()),
    state,
    kinds: describe(z.array(z.string()), "Its packages and addresses: npm, pypi, oci, remote, and others"),
    website: z.nullable(z.string()),
    repository: z.nullable(z.string()),
    updated_at: z.nullable(z.string()),
    added_as: describe(z.array(z.string()), "Names of the hub's servers that come from it"),
  }),
);
export type RegistryServerSummary = z.infer<typeof foundServer>;

const freshness = {
  seen_at: describe(z.nullable(z.string()), "When the registry answered; null: it is on the hub's disk"),
  problem: describe(z.nullable(z.string()), "Why the registry could not be asked now: its last answer is shown"),
};

export const registrySearch = component(
  "RegistrySearch",
  z.object({
    servers: z.array(foundServer),
    registries: z.array(
      z.object({
        registry: z.string(),
        count: z.int(),
        ...freshness,
        error: describe(z.nullable(errorBody), "Why there are no results of it"),
      }),
    ),
    next_cursor: z.nullable(z.string()),
  }),
);
export type RegistrySearch = z.infer<typeof registrySearch>;

const input = component(
  "RegistryInput",
  z.object({
    name: z.string(),
    description: z.nullable(z.string()),
    required: z.boolean(),
    secret: describe(z.boolean(), "Its value goes to the secret store"),
    default: z.nullable(z.string()),
    choices: z.array(z.string()),
    format: z.enum(INPUT_FORMATS),
    placeholder: z.nullable(z.string()),
  }),
);
export type RegistryInput = z.infer<typeof input>;

const kind = z.enum(OFFER_KINDS);

const draft = component(
  "RegistryDraft",
  z.object({
    package: kind,
    identifier: z.string(),
    entry: describe(json, "What would be saved, with <name> in place of inputs"),
    inputs: z.array(input),
    warnings: z.array(z.string()),
  }),
);
export type RegistryDraft = z.infer<typeof draft>;

export const registryServer = component(
  "RegistryServer",
  z.extend(foundServer, {
    ...freshness,
    suggested_name: z.string(),
    drafts: describe(z.array(draft), "What can be added, the best first"),
    unusable: describe(
      z.array(z.object({ kind: z.string(), identifier: z.string(), reason: z.string() })),
      "Packages and addresses that the hub cannot use",
    ),
  }),
);
export type RegistryServer = z.infer<typeof registryServer>;

const value = z.union([z.string(), z.strictObject({ secret_ref: z.string() })], {
  error: "A value must be text, or an object with secret_ref",
});

export const registryAdd = component(
  "RegistryAdd",
  z.strictObject({
    name: describe(z.string().check(z.minLength(1)), "Of the server in the registry"),
    registry: describe(z.optional(z.string()), "Default: the first registry that has it"),
    version: describe(z.optional(z.string()), "Default: the newest"),
    package: describe(z.optional(kind), "Default: the first draft"),
    as: describe(z.optional(z.string()), "The name of the server in the hub"),
    values: describe(z.optional(z.record(z.string(), value)), "By input; secrets are stored in the secret store"),
    enabled: z.optional(z.boolean()),
    groups: z.optional(z.array(z.string())),
  }),
);
export type RegistryAdd = z.infer<typeof registryAdd>;

export const registryAdded = component(
  "RegistryAdded",
  z.object({
    server,
    registry: z.string(),
    version: z.nullable(z.string()),
    secrets: describe(z.array(z.string()), "Names of the secrets that were stored"),
    warnings: z.array(z.string()),
  }),
);
export type RegistryAdded = z.infer<typeof registryAdded>;
