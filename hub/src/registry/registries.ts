// All registries as one: searches them together, and finds a server in the first that has it. A registry that cannot be reached
// holds up no other.

import type { LookupFunction } from "node:net";
import { findProgram } from "../lib/files/find-program.ts";
import { HubError, toHubError, type ErrorBody } from "../errors.ts";
import type { RegistryEntry } from "../config/schema/registries.ts";
import {
  configuredRegistries,
  isLocation,
  registryAt,
  unknownRegistry,
  type NamedRegistry,
  type RegistryContext,
} from "./configured.ts";
import { draftsOf, type Drafts } from "./draft/draft.ts";
import type { Freshness, OfferKind, ServerRecord, ServerSummary } from "./model.ts";
import { AnswerCache } from "./sources/cache.ts";

export interface RegistriesOptions {
  /** Of hub.json; undefined: the built-in ones. */
  readonly entries: readonly RegistryEntry[] | undefined;
  /** Where answers are kept; undefined: nowhere. */
  readonly folder: string | undefined;
  readonly secret: (name: string) => Promise<string | undefined>;
  readonly lookup?: LookupFunction | undefined;
  /** To find out what can run here. */
  readonly path: string | undefined;
  readonly now?: () => number;
}

export interface SearchQuery {
  readonly query: string;
  /** A name, address or folder; undefined: all that are configured. */
  readonly registry?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface FoundServer extends ServerSummary {
  readonly registry: string;
}

/** What a registry contributed to a search. */
export interface RegistryAnswer {
  readonly registry: string;
  readonly count: number;
  readonly seenAt?: number;
  /** Why it could not be asked, although older results are shown. */
  readonly problem?: string;
  /** Why there are no results of it. */
  readonly error?: ErrorBody;
}

export interface SearchResult {
  readonly servers: readonly FoundServer[];
  readonly registries: readonly RegistryAnswer[];
  readonly nextCursor?: string;
}

export interface FoundRecord extends Drafts, Freshness {
  readonly registry: string;
  readonly record: ServerRecord;
}

const PROGRAMS = [
  ["npm", "npx"],
  ["pypi", "uvx"],
  ["oci", "docker"],
] as const;

const LIMIT = 30;
const LIMIT_MAX = 100;

export class Registries {
  readonly #options: RegistriesOptions;
  readonly #context: RegistryContext;
  #opened: readonly NamedRegistry[] | undefined;

  constructor(options: RegistriesOptions) {
    this.#options = options;
    const { folder, secret, lookup, now = Date.now } = options;
    this.#context = { cache: new AnswerCache(folder), secret, lookup, now };
  }

  /** Replaces the system's DNS lookup. */
  get lookup(): LookupFunction | undefined {
    return this.#options.lookup;
  }

  /** Throws InvalidConfig if hub.json has an unusable one. */
  get all(): readonly NamedRegistry[] {
    return (this.#opened ??= configuredRegistries(this.#options.entries, this.#context));
  }

  async search({ query, registry, cursor, limit = LIMIT, signal }: SearchQuery): Promise<SearchResult> {
    const asked = await this.#asked(registry);
    const cursors = readCursor(cursor);
    const wanted = cursors === undefined ? asked : asked.filter(({ name }) => Object.hasOwn(cursors, name));
    const each = Math.min(Math.max(1, limit), LIMIT_MAX);
    const answers = await Promise.all(
      wanted.map(async (named) => {
        try {
          const page = await named.registry.search({ query, cursor: cursors?.[named.name], limit: each, signal });
          return { named, page };
        } catch (thrown) {
          return { named, error: toHubError(thrown) };
        }
      }),
    );
    const next = Object.fromEntries(
      answers.flatMap(({ named, page }) =>
        page?.nextCursor === undefined ? [] : [[named.name, page.nextCursor] as const],
      ),
    );
    return {
      servers: answers.flatMap(({ named, page }) =>
        (page?.servers ?? []).map((server) => ({ ...server, registry: named.name })),
      ),
      registries: answers.map(({ named, page, error }) => ({
        registry: named.name,
        count: page?.servers.length ?? 0,
        ...(page?.seenAt === undefined ? {} : { seenAt: page.seenAt }),
        ...(page?.problem === undefined ? {} : { problem: page.problem }),
        ...(error === undefined ? {} : { error: error.toJSON() }),
      })),
      ...(Object.keys(next).length === 0 ? {} : { nextCursor: toCursor(next) }),
    };
  }

  /** The server and what can be added of it. Without a registry: of the first that has it. */
  async get(
    name: string,
    {
      registry,
      version,
      signal,
    }: { registry?: string | undefined; version?: string | undefined; signal?: AbortSignal } = {},
  ): Promise<FoundRecord> {
    const failures: { readonly registry: string; readonly error: HubError }[] = [];
    for (const named of await this.#asked(registry)) {
      try {
        const found = await named.registry.get(name, version, signal);
        return {
          registry: named.name,
          ...found,
          ...draftsOf(found.record, named.name, await runnableKinds(this.#options.path)),
        };
      } catch (thrown) {
        const error = toHubError(thrown);
        if (error.kind === "Cancelled" || registry !== undefined) throw error;
        failures.push({ registry: named.name, error });
      }
    }
    throw notFoundAnywhere(name, failures);
  }

  async #asked(registry: string | undefined): Promise<readonly NamedRegistry[]> {
    if (registry === undefined) {
      const ready = await Promise.all(this.all.map((named) => named.isReady()));
      return this.all.filter((_, index) => ready[index]);
    }
    const known = this.all.find(({ name }) => name === registry);
    if (known !== undefined) return [known];
    if (isLocation(registry)) return [registryAt(registry, this.#context)];
    throw unknownRegistry(
      registry,
      this.all.map(({ name }) => name),
    );
  }
}

/** Looked up each time: a program may be installed while the hub runs. */
export async function runnableKinds(path: string | undefined): Promise<ReadonlySet<OfferKind>> {
  const found = await Promise.all(
    PROGRAMS.map(async ([kind, program]) => ((await findProgram(program, path)) === undefined ? [] : [kind])),
  );
  return new Set<OfferKind>([...found.flat(), "remote"]);
}

/** If a registry could not be reached, it may have the server. */
function notFoundAnywhere(name: string, failures: readonly { registry: string; error: HubError }[]): HubError {
  const unreachable = failures.filter(({ error }) => error.kind !== "ServerNotFound");
  const [first] = unreachable;
  const hint = `plugboard search ${name.slice(name.lastIndexOf("/") + 1)}`;
  if (first === undefined) {
    return new HubError("ServerNotFound", `No registry has a server ${JSON.stringify(name.slice(0, 200))}`, { hint });
  }
  const detail = unreachable.map(({ registry, error }) => `${registry}: ${error.message}`).join("\n");
  return new HubError(first.error.kind, `${name} was not found, and ${first.registry} could not be asked`, { detail });
}

function toCursor(cursors: Readonly<Record<string, string>>): string {
  return Buffer.from(JSON.stringify(cursors)).toString("base64url");
}

function readCursor(cursor: string | undefined): Readonly<Record<string, string>> | undefined {
  if (cursor === undefined) return undefined;
  try {
    const json: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (typeof json === "object" && json !== null) {
      return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, String(value)]));
    }
  } catch {
    // Reported below.
  }
  throw new HubError("InvalidArgument", "The cursor is not one of this search", { field: "cursor" });
}
