// The registries of `hub.json`, ready to be asked. Their libraries and lists are loaded with the first question.

import { isAbsolute } from "node:path";
import type { LookupFunction } from "node:net";
import { BUILT_IN, type RegistryEntry } from "../config/schema/registries.ts";
import { HubError } from "../errors.ts";
import { trimEnd } from "@plugboard/shared/trim";
import { didYouMean } from "@plugboard/shared/near-names";
import { createGuardedFetch } from "../oauth/fetch/guarded-fetch.ts";
import { readCatalogue } from "./docker/catalogue.ts";
import { parseYaml } from "./docker/yaml.ts";
import type { Registry } from "./model.ts";
import { RegistryServer } from "./sources/ask.ts";
import type { AnswerCache } from "./sources/cache.ts";
import { recordsIn } from "./sources/folder.ts";
import { LocalRegistry, type Loaded } from "./sources/local.ts";
import { SmitheryRegistry } from "./sources/smithery.ts";
import { V01Registry } from "./sources/v01.ts";

const OFFICIAL_URL = "https://registry.modelcontextprotocol.io";
const SMITHERY_URL = "https://api.smithery.ai";
const DOCKER_URL = "https://desktop.docker.com/mcp/catalog/v3/catalog.yaml";
/** The secret with the key of the built-in Smithery. */
export const SMITHERY_KEY = "SMITHERY_API_KEY";

const ANSWER_MAX_BYTES = 32 * 1024 * 1024;
/** A folder is read again after this time. */
const FOLDER_FRESH_MS = 10_000;

export interface RegistryContext {
  readonly cache: AnswerCache;
  /** The value of a stored secret. */
  readonly secret: (name: string) => Promise<string | undefined>;
  readonly lookup?: LookupFunction | undefined;
  readonly now: () => number;
}

export interface NamedRegistry {
  readonly name: string;
  readonly type: "curated" | "official" | "docker" | "smithery" | "mirror";
  /** Its address or folder; undefined: part of this program. */
  readonly location?: string;
  readonly registry: Registry;
  /** False: it is asked only by name, since it needs a key that is not there. */
  readonly isReady: () => Promise<boolean>;
}

type Definition = Exclude<RegistryEntry, string>;

const DEFAULTS: readonly RegistryEntry[] = BUILT_IN;

/** Throws InvalidConfig for an entry without a usable address. */
export function configuredRegistries(
  entries: readonly RegistryEntry[] = DEFAULTS,
  context: RegistryContext,
): NamedRegistry[] {
  return entries.map((entry) => open(entry, context));
}

/** A registry that is not configured, by its address or folder. */
export function registryAt(location: string, context: RegistryContext): NamedRegistry {
  const isDocker = /\.ya?ml$/.test(location);
  const place = isAbsolute(location) ? { path: location } : { url: location };
  return { ...open({ name: "mirror", type: isDocker ? "docker" : "mirror", ...place }, context), name: location };
}

/** Whether a text can only be an address or a folder, and no name. */
export function isLocation(text: string): boolean {
  return /^https?:\/\//.test(text) || isAbsolute(text);
}

export function unknownRegistry(name: string, known: readonly string[]): HubError {
  return new HubError("InvalidArgument", `There is no registry ${JSON.stringify(name.slice(0, 100))}`, {
    field: "registry",
    hint: didYouMean(name, known, "Registries"),
  });
}

function open(entry: RegistryEntry, context: RegistryContext): NamedRegistry {
  if (entry === "curated") {
    return { name: entry, type: entry, registry: new LocalRegistry(entry, loadCurated), isReady: always };
  }
  const definition: Definition = typeof entry === "string" ? { name: entry } : entry;
  const { name, path } = definition;
  const type = typeOf(definition);
  if (path !== undefined) {
    if (!isAbsolute(path)) throw invalid(name, "the path must be absolute");
    return { name, type, location: path, registry: folderRegistry(name, path, context), isReady: always };
  }
  const location = definition.url ?? defaultUrl(definition, type);
  const base = URL.canParse(location) ? new URL(location) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol)) throw invalid(name, "the url must begin with https://");
  const key = keyOf(definition, type);
  const server = new RegistryServer({
    registry: name === "mirror" ? location : name,
    fetch: createGuardedFetch({ server: base, lookup: context.lookup, maxBytes: ANSWER_MAX_BYTES }),
    cache: context.cache,
    now: context.now,
    headers: async () => authorization(name, type, await valueOf(key, context)),
  });
  const address = trimEnd(location, "/").replace(/\/v0(?:\.1)?$/, "");
  const isReady = type === "smithery" ? async () => (await valueOf(key, context)) !== undefined : always;
  const registry =
    type === "docker"
      ? new LocalRegistry(name, async (signal) => {
          const { text, ...freshness } = await server.ask(location, signal);
          return { records: readCatalogue(await parseYaml(text)), ...freshness };
        })
      : type === "smithery"
        ? new SmitheryRegistry({ registry: name, base: address, server })
        : new V01Registry({ registry: name, base: address, server });
  return { name, type, location, registry, isReady };
}

function typeOf({ name, type, url, path }: Definition): "official" | "docker" | "smithery" | "mirror" {
  if (type !== undefined) return type;
  if (name === "official" || name === "docker" || name === "smithery") return name;
  if (url === undefined && path === undefined) throw invalid(name, "it needs a url or a path");
  return "mirror";
}

function defaultUrl({ name }: Definition, type: "official" | "docker" | "smithery" | "mirror"): string {
  switch (type) {
    case "official":
      return OFFICIAL_URL;
    case "docker":
      return DOCKER_URL;
    case "smithery":
      return SMITHERY_URL;
    case "mirror":
      throw invalid(name, "it needs a url or a path");
  }
}

function folderRegistry(name: string, path: string, { now }: RegistryContext): Registry {
  let read: { readonly at: number; readonly records: ReturnType<typeof recordsIn> } | undefined;
  return new LocalRegistry(name, async () => {
    if (read === undefined || now() - read.at > FOLDER_FRESH_MS) read = { at: now(), records: recordsIn(path) };
    return { records: await read.records };
  });
}

async function loadCurated(): Promise<Loaded> {
  const { curatedRecords } = await import("./curated/records.ts");
  return { records: curatedRecords() };
}

type Key = { readonly value: string } | { readonly secretRef: string };

function keyOf({ key }: Definition, type: string): Key | undefined {
  if (key === undefined) return type === "smithery" ? { secretRef: SMITHERY_KEY } : undefined;
  if (typeof key === "string") return { value: key };
  const reference = key.secretRef ?? key.secret_ref;
  return reference === undefined ? { value: key.value ?? "" } : { secretRef: reference };
}

async function valueOf(key: Key | undefined, { secret }: RegistryContext): Promise<string | undefined> {
  if (key === undefined) return undefined;
  return "value" in key ? key.value : secret(key.secretRef);
}

function authorization(name: string, type: string, key: string | undefined): Record<string, string> {
  if (key !== undefined) return { authorization: `Bearer ${key}` };
  if (type !== "smithery") return {};
  throw new HubError("SecretRequired", `${name} needs a key`, { hint: `plugboard secret set ${SMITHERY_KEY}` });
}

function always(): Promise<boolean> {
  return Promise.resolve(true);
}

function invalid(name: string, what: string): HubError {
  return new HubError("InvalidConfig", `The registry ${name}: ${what}`, { field: "registries" });
}
