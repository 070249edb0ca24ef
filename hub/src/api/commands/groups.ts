// Groups: what is declared, what is exposed, and changes of it.

import type { EditOptions } from "../../config/store.ts";
import { HubError } from "../../errors.ts";
import type { Managed } from "../core.ts";
import type { GroupInput, GroupView } from "../schemas/group.ts";

export class GroupCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  list(): GroupView[] {
    return this.#managed.hub.catalog.groupNames.map((name) => this.get(name));
  }

  get(name: string): GroupView {
    const { catalog, configuration } = this.#managed.hub;
    const { description, servers, tools, prompts, resources } = catalog.group(name);
    const declared = configuration.current.groups.find((group) => group.name === name);
    return {
      name,
      description: description ?? null,
      servers: [...servers],
      tools: [...(declared?.tools ?? [])],
      declared: declared !== undefined,
      path: `/mcp/${encodeURIComponent(name)}`,
      tool_count: tools.length,
      prompt_count: prompts.length,
      resource_count: resources.length,
    };
  }

  /** Where two add the same one at once, the second hears that the config is not what it saw. */
  async create(name: string, entry: GroupInput, options?: EditOptions): Promise<GroupView> {
    const { current, revision } = this.#managed.hub.configuration;
    if (current.groups.some((group) => group.name === name)) {
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
