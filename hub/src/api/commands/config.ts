// The config as a whole: shown, exported, checked, read again.

import { checkTexts } from "../../config/check.ts";
import { describeChanges, type ConfigChanges } from "../../config/diff.ts";
import type { GroupConfig, ServerConfig } from "../../config/types.ts";
import type { Managed } from "../core.ts";
import { toEntry } from "../entry/entry.ts";
import { hideAll } from "../../config/mask.ts";
import { toJsonObject } from "../entry/object.ts";
import type { ConfigChangesView, ConfigCheck, ConfigDocument, ConfigView } from "../schemas/config.ts";

export class ConfigCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  get revision(): string {
    return this.#managed.hub.configuration.revision;
  }

  show(): ConfigView {
    const { revision, demo } = this.#managed.hub.configuration;
    return { revision, demo, config: this.export() };
  }

  /** What could be given to another hub, in the files' own form; literal secrets are `***`, references stay. */
  export(): ConfigDocument {
    const { servers: all, groups } = this.#managed.hub.configuration.current;
    const servers = all.filter(({ invalid }) => invalid === undefined);
    return {
      mcpServers: Object.fromEntries(servers.map((server) => [server.name, toWritten(server)])),
      groups: Object.fromEntries(groups.map((group) => [group.name, toWrittenGroup(group)])),
    };
  }

  /** Says everything that is wrong with a document: `mcpServers` (or `servers`) and `groups`. Nothing is saved. */
  validate(given: unknown): ConfigCheck {
    const { groups, ...servers } = toJsonObject(given, "A config");
    const groupText = groups === undefined ? "" : JSON.stringify({ groups });
    const { errors, warnings } = checkTexts(JSON.stringify(servers), groupText);
    return { valid: errors.length === 0, errors: [...errors], warnings: [...warnings] };
  }

  /** Reads the files again, now. */
  async reload(): Promise<ConfigChangesView> {
    const { configuration } = this.#managed.hub;
    const changes = await configuration.reload();
    return {
      revision: configuration.revision,
      added: namesOf(changes.added),
      removed: [...changes.removed],
      restarted: namesOf(changes.restarted),
      changed: namesOf(changes.described),
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

/** The key says the name, and the id where it is the same; what is enabled need not say so. */
function toWritten(server: ServerConfig): Record<string, unknown> {
  const { id, name, enabled, ...entry } = toEntry(server, hideAll);
  return { ...(id === name ? {} : { id }), ...(enabled ? {} : { enabled }), ...entry };
}

function toWrittenGroup({ description, servers, tools }: GroupConfig): Record<string, unknown> {
  return { ...(description === undefined ? {} : { description }), servers, tools };
}

function namesOf(servers: readonly ServerConfig[]): string[] {
  return servers.map(({ name }) => name);
}
