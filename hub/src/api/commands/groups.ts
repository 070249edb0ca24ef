// Groups: what is declared, what is exposed, and changes of it.

import type { EditOptions } from "../../config/store.ts";
import { HubError } from "../../errors.ts";
import type { Managed } from "../core.ts";
import type { GroupInput, GroupView } from "../schemas/group.ts";
import { groupPath } from "../../group-path.ts";

/** What a group offers that cannot be used. */
const NOTHING = { description: undefined, servers: [], tools: [], prompts: [], resources: [] };

export class GroupCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  list(): GroupView[] {
    const { catalog, configuration } = this.#managed.hub;
    const { invalidGroups = [] } = configuration.current;
    // The default group is there also where the one of the file cannot be used.
    return [...new Set([...catalog.groupNames, ...invalidGroups.map(({ name }) => name)])].map((name) =>
      this.get(name),
    );
  }

  get(name: string): GroupView {
    const { catalog, configuration, supervisor } = this.#managed.hub;
    const { groups, invalidGroups = [] } = configuration.current;
    const invalid = invalidGroups.find((group) => group.name === name);
    const group = invalid !== undefined && !catalog.groupNames.includes(name) ? NOTHING : catalog.groupOrSuggest(name);
    const { description, servers, tools, prompts, resources } = group;
    const declared = groups.find((candidate) => candidate.name === name);
    // What is read and written back must not lose a server that is only missing for now.
    const unknown = (declared?.servers ?? []).filter((server) => !supervisor.has(server));
    return {
      name,
      description: description ?? null,
      servers: [...servers, ...unknown],
      unknown_servers: unknown,
      tools: [...(declared?.tools ?? [])],
      declared: declared !== undefined || invalid !== undefined,
      error: invalid?.error ?? null,
      path: groupPath(name),
      tool_count: tools.length,
      prompt_count: prompts.length,
      resource_count: resources.length,
    };
  }

  /** Where two add the same one at once, the second hears that the config is not what it saw. */
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

  /** Adds a group or replaces it. */
  async set(name: string, { name: repeated, ...entry }: GroupInput, options?: EditOptions): Promise<GroupView> {
    if (repeated !== undefined && repeated !== name) {
      const hint = "To rename a group, add one of the new name and delete the old one";
      throw new HubError("InvalidConfig", "The name is not that of the address", { field: "name", hint });
    }
    const given = Object.fromEntries(
      Object.entries(entry).filter(([, value]) => value !== null && value !== undefined),
    );
    await this.#managed.hub.configuration.setGroup(name, given, options);
    return this.get(name);
  }

  async delete(name: string, options?: EditOptions): Promise<void> {
    await this.#managed.hub.configuration.deleteGroup(name, options);
  }
}
