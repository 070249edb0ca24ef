// The whole config: show, export, validate, reload.

import type { EditOptions } from "../../../config/files/config-store.ts";
import { checkTexts } from "../../../config/parse/check.ts";
import { describeChanges, type ConfigChanges } from "../../../config/edit/diff.ts";
import { toGroupEntry } from "../../../config/parse/normalize.ts";
import type { ServerConfig } from "../../../config/schema/types.ts";
import type { Managed } from "../core.ts";
import { toEntry } from "../entry/entry.ts";
import { KnownSecrets } from "../entry/known-secrets.ts";
import { hideAll } from "../../../redaction/mask.ts";
import { toJsonObject } from "../entry/object.ts";
import type { ConfigChangesView, ConfigCheck, ConfigDocument, ConfigView } from "../../schemas/config.ts";

export class ConfigCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  get revision(): string {
    return this.#managed.hub.configuration.revision;
  }

  async show(): Promise<ConfigView> {
    const secrets = await this.#secrets();
    const { revision, demo } = this.#managed.hub.configuration;
    return { revision, demo, config: this.#document(secrets) };
  }

  /** In the format of the files, for another hub. Literal secrets are `***`, references stay. */
  async export(): Promise<ConfigDocument> {
    return this.#document(await this.#secrets());
  }

  #secrets(): Promise<KnownSecrets> {
    return KnownSecrets.of(this.#managed.hub.secrets);
  }

  #document(secrets: KnownSecrets): ConfigDocument {
    const { servers: all, groups } = this.#managed.hub.configuration.current;
    const servers = all.filter(({ invalid }) => invalid === undefined);
    return {
      mcpServers: Object.fromEntries(servers.map((server) => [server.name, toServerEntry(server, secrets)])),
      groups: Object.fromEntries(groups.map((group) => [group.name, toGroupEntry(group)])),
    };
  }

  /** Finds all errors in a document with `mcpServers` (or `servers`) and `groups`. Nothing is saved. */
  validate(given: unknown): ConfigCheck {
    const { groups, ...servers } = toJsonObject(given, "A config");
    const groupText = groups === undefined ? "" : JSON.stringify({ groups });
    const { errors, warnings } = checkTexts(JSON.stringify(servers), groupText);
    return { valid: errors.length === 0, errors: [...errors], warnings: [...warnings] };
  }

  async reload(options?: Pick<EditOptions, "requestId">): Promise<ConfigChangesView> {
    const { configuration } = this.#managed.hub;
    const changes = await configuration.reload(options);
    return {
      revision: configuration.revision,
      added: namesOf(changes.added),
      removed: [...changes.removed],
      restarted: namesOf(changes.restarted),
      changed: namesOf(changes.updated),
      groups: changes.groups,
      group_changes: toGroupChanges(changes),
      description: describeChanges(changes),
    };
  }
}

function toGroupChanges({
  groupChanges: { added, removed, changed },
}: ConfigChanges): ConfigChangesView["group_changes"] {
  return { added: [...added], removed: [...removed], changed: [...changed] };
}

/** Without the name, which is the key, and without an id and `enabled` at their defaults. */
function toServerEntry(server: ServerConfig, secrets: KnownSecrets): Record<string, unknown> {
  const { id, name, enabled, ...entry } = toEntry(server, hideAll, secrets);
  return { ...(id === name ? {} : { id }), ...(enabled ? {} : { enabled }), ...entry };
}

function namesOf(servers: readonly ServerConfig[]): string[] {
  return servers.map(({ name }) => name);
}
