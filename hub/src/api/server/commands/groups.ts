// Groups: their config, what they expose, and changes.

import type { Grant } from "../../../auth/grant.ts";
import { may } from "../../../auth/policy.ts";
import { groupNotFound } from "../../../catalog/catalog.ts";
import { previewGroup } from "../../../catalog/preview.ts";
import { clientsWithFewerTools } from "../../../client-configs/client-table.ts";
import type { EditOptions } from "../../../config/files/config-store.ts";
import { normalizeGroup } from "../../../config/parse/normalize.ts";
import { HubError } from "../../../errors.ts";
import { toGroupTools } from "../../../config/schema/tool-settings.ts";
import type { GroupConfig } from "../../../config/schema/types.ts";
import { noFieldsLeft } from "@plugboard/shared/fields";
import type { Managed } from "../core.ts";
import type { GroupInput, GroupView } from "../../schemas/group.ts";
import { groupPath } from "../../../http/group-path.ts";

/** An invalid group offers nothing. */
const NOTHING = { servers: [], tools: [], prompts: [], resources: [], isSearched: false, tokens: 0 };
/** In place of the config of a group that no file declares: the default group, or one from a hint. */
const UNDECLARED: GroupConfig = { name: "", servers: [], tools: [] };

export class GroupCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  /** Those that the viewer may see. */
  listFor(viewer: Grant): GroupView[] {
    const { catalog } = this.#managed.hub;
    if (may(viewer, { to: "manage", as: "operator", changes: false })) return this.list();
    return catalog.groupNames
      .filter((name) => may(viewer, { to: "see", group: catalog.group(name) }))
      .map((name) => this.getFor(viewer, name));
  }

  /** A group that the viewer may not see does not exist, and none is suggested. */
  getFor(viewer: Grant, name: string): GroupView {
    if (may(viewer, { to: "manage", as: "operator", changes: false })) return this.get(name);
    if (!may(viewer, { to: "see", group: this.#managed.hub.catalog.group(name) })) throw groupNotFound(name);
    // Who else may use it is not for everyone.
    return { ...this.get(name), access: null };
  }

  list(): GroupView[] {
    const { catalog, configuration } = this.#managed.hub;
    const { invalidGroups = [] } = configuration.current;
    // A Set: the default group is in the catalog even if the one in the file is invalid.
    return [...new Set([...catalog.groupNames, ...invalidGroups.map(({ name }) => name)])].map((name) =>
      this.get(name),
    );
  }

  get(name: string): GroupView {
    const { catalog, configuration, supervisor } = this.#managed.hub;
    const { groups, invalidGroups = [] } = configuration.current;
    const invalid = invalidGroups.find((group) => group.name === name);
    const group = invalid !== undefined && !catalog.groupNames.includes(name) ? NOTHING : catalog.groupOrSuggest(name);
    const declared = groups.find((candidate) => candidate.name === name);
    const {
      name: _,
      description,
      servers,
      tools,
      toolSettings,
      nameAsker,
      access,
      exposure,
      always,
      approve,
      approvalTimeoutMs,
      results,
      ...rest
    } = declared ?? UNDECLARED;
    noFieldsLeft(rest);
    // Includes servers that are not configured: a client that writes the group back must not lose them.
    const unknown = servers.filter((server) => !supervisor.has(server));
    return {
      name,
      description: description ?? null,
      servers: [...group.servers, ...unknown],
      unknown_servers: unknown,
      tools: toGroupTools(tools, toolSettings),
      name_asker: nameAsker ?? null,
      access: access === undefined ? null : [...access],
      exposure: exposure ?? null,
      always: [...(always ?? [])],
      approve: approve ?? null,
      approval_timeout_ms: approvalTimeoutMs ?? null,
      results: results ?? null,
      declared: declared !== undefined || invalid !== undefined,
      error: invalid?.error ?? null,
      path: groupPath(name),
      is_searched: group.isSearched,
      tool_count: group.tools.length,
      tokens: group.tokens,
      too_many_for: clientsWithFewerTools({ tools: group.tools.length, isSearched: group.isSearched }),
      prompt_count: group.prompts.length,
      resource_count: group.resources.length,
    };
  }

  /** Of two clients that add the same group at once, the second gets StaleConfig. */
  async create(name: string, entry: GroupInput, options?: EditOptions): Promise<GroupView> {
    const { current, revision } = this.#managed.hub.configuration;
    if ([...current.groups, ...(current.invalidGroups ?? [])].some((group) => group.name === name)) {
      throw new HubError("GroupAlreadyExists", `There is a group "${name}" already`, {
        field: "name",
        hint: `To change it: plugboard group set ${name}`,
      });
    }
    return this.set(name, entry, { ifRevision: revision, ...options });
  }

  /** Adds or replaces a group. */
  async set(name: string, { name: repeated, ...entry }: GroupInput, options?: EditOptions): Promise<GroupView> {
    if (repeated !== undefined && repeated !== name) {
      const hint = "To rename a group, add a group with the new name and delete the old one";
      throw new HubError("InvalidArgument", "The name differs from the name in the address", { field: "name", hint });
    }
    const given = Object.fromEntries(
      Object.entries(entry).filter(([, value]) => value !== null && value !== undefined),
    );
    this.#requireFitting(name, given);
    await this.#managed.hub.configuration.setGroup(name, given, options);
    return this.get(name);
  }

  /** A file may have settings that do not fit its tools, since the tools may change. Nobody saves such settings knowingly. */
  #requireFitting(name: string, entry: unknown): void {
    const group = normalizeGroup(name, entry);
    if (group.toolSettings === undefined) return;
    const { configuration, supervisor } = this.#managed.hub;
    const [misfit] = previewGroup(configuration.current, supervisor.listings(), group).misfits;
    if (misfit !== undefined) throw new HubError("InvalidConfig", misfit.message, { field: misfit.field });
  }

  async delete(name: string, options?: EditOptions): Promise<void> {
    await this.#managed.hub.configuration.deleteGroup(name, options);
  }
}
