// Finds servers in registries, shows what they need, and adds them.

import { registryOf } from "../../../config/parse/source.ts";
import type { EditOptions } from "../../../config/files/config-store.ts";
import { addFromRegistry } from "../../../registry/add.ts";
import { isExactVersion } from "../../../config/parse/source.ts";
import { HubError } from "../../../errors.ts";
import { entryName } from "../../../registry/draft/draft.ts";
import type { Draft, Freshness, Input, ServerSummary } from "../../../registry/model.ts";
import type { SearchQuery } from "../../../registry/registries.ts";
import type {
  RegistryAdd,
  RegistryAdded,
  RegistryDraft,
  RegistryInput,
  RegistrySearch,
  RegistryServer,
  RegistryServerSummary,
  RegistryView,
} from "../../schemas/registry.ts";
import type { Managed } from "../core.ts";
import type { SecretCommands } from "./secrets.ts";
import type { ServerCommands } from "./servers.ts";

interface Which {
  readonly registry?: string | undefined;
  readonly version?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class RegistryCommands {
  readonly #managed: Managed;
  readonly #servers: ServerCommands;
  readonly #secrets: SecretCommands;

  constructor(managed: Managed, { servers, secrets }: { servers: ServerCommands; secrets: SecretCommands }) {
    this.#managed = managed;
    this.#servers = servers;
    this.#secrets = secrets;
  }

  list(): Promise<RegistryView[]> {
    return Promise.all(
      this.#managed.hub.registries.all.map(async ({ name, type, location, isReady }) => ({
        name,
        type,
        location: location ?? null,
        ready: await isReady(),
      })),
    );
  }

  async search(query: SearchQuery): Promise<RegistrySearch> {
    const { servers, registries, nextCursor } = await this.#managed.hub.registries.search(query);
    const added = this.#added();
    return {
      servers: servers.map(({ registry, ...server }) => toSummary(registry, server, added)),
      registries: registries.map((each) => ({
        registry: each.registry,
        count: each.count,
        ...toFreshness(each),
        error: each.error ?? null,
      })),
      next_cursor: nextCursor ?? null,
    };
  }

  async get(name: string, which: Which = {}): Promise<RegistryServer> {
    const found = await this.#find(name, which);
    return {
      ...toSummary(found.registry, found.record, this.#added()),
      ...toFreshness(found),
      suggested_name: entryName(found.record),
      drafts: found.drafts.map(toDraft),
      unusable: found.unusable.map((each) => ({ ...each })),
    };
  }

  /** MC-NT4: without a required value, nothing is saved. */
  async add(input: RegistryAdd, options?: EditOptions & { readonly signal?: AbortSignal }): Promise<RegistryAdded> {
    const { name, registry, version, as, values = {}, enabled, groups } = input;
    const found = await this.#find(name, { registry, version, signal: options?.signal });
    const { hub } = this.#managed;
    const known = hub.configuration.current.servers;
    const added = await addFromRegistry(
      {
        taken: hub.configuration.demo ? [] : known.flatMap((server) => [server.name, server.id]),
        secrets: {
          list: () => hub.secrets.list(),
          set: (secret, value) => this.#secrets.set(secret, value),
          delete: (secret) => this.#secrets.delete(secret, { force: true }),
        },
        createServer: (entry) => this.#servers.create(entry, options),
        lookup: hub.registries.lookup,
      },
      found,
      {
        name: as,
        package: input.package,
        values: Object.fromEntries(
          Object.entries(values).map(([key, value]) => [
            key,
            typeof value === "string" ? value : { secretRef: value.secret_ref },
          ]),
        ),
        settings: {
          ...(enabled === undefined ? {} : { enabled }),
          ...(groups === undefined ? {} : { groups: [...groups] }),
        },
      },
    );
    return {
      server: added.server,
      registry: found.registry,
      version: found.record.version ?? null,
      secrets: [...added.secrets],
      warnings: [...added.warnings],
    };
  }

  #find(name: string, { registry, version, signal }: Which) {
    if (version !== undefined && !isExactVersion(version)) {
      throw new HubError("InvalidArgument", `${JSON.stringify(version)} is not an exact version`, {
        field: "version",
        hint: "Leave it out for the newest",
      });
    }
    return this.#managed.hub.registries.get(name, { registry, version, ...(signal === undefined ? {} : { signal }) });
  }

  /** By registry and name: the servers of the hub that come from there. */
  #added(): ReadonlyMap<string, readonly string[]> {
    const added = new Map<string, string[]>();
    for (const { name, source } of this.#managed.hub.configuration.current.servers) {
      const from = registryOf(source);
      if (from === undefined) continue;
      const key = JSON.stringify([from.registry, from.name]);
      added.set(key, [...(added.get(key) ?? []), name]);
    }
    return added;
  }
}

function toSummary(
  registry: string,
  { name, version, title, description, state, kinds, website, repository, updatedAt }: ServerSummary,
  added: ReadonlyMap<string, readonly string[]>,
): RegistryServerSummary {
  return {
    registry,
    name,
    version: version ?? null,
    title: title ?? null,
    description: description ?? null,
    state,
    kinds: [...kinds],
    website: website ?? null,
    repository: repository ?? null,
    updated_at: updatedAt ?? null,
    added_as: [...(added.get(JSON.stringify([registry, name])) ?? [])],
  };
}

function toFreshness({ seenAt, problem }: Freshness): { seen_at: string | null; problem: string | null } {
  return { seen_at: seenAt === undefined ? null : new Date(seenAt).toISOString(), problem: problem ?? null };
}

function toDraft({ kind, identifier, entry, inputs, warnings }: Draft): RegistryDraft {
  return { package: kind, identifier, entry, inputs: inputs.map(toInput), warnings: [...warnings] };
}

function toInput({ name, description, isRequired, isSecret, format, ...input }: Input): RegistryInput {
  return {
    name,
    description: description ?? null,
    required: isRequired,
    secret: isSecret,
    default: input.default ?? null,
    choices: [...(input.choices ?? [])],
    format,
    placeholder: input.placeholder ?? null,
  };
}
