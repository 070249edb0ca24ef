// The part of the client about groups.

import type { GroupInput, GroupPreview, GroupPreviewInput, GroupView } from "../schemas/group.ts";
import type { GroupTool, GroupToolDetail } from "../schemas/tool.ts";
import type { Connection } from "./connection.ts";
import { type EditOptions, groupPath, ifMatch } from "./request-parts.ts";

export class GroupsClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  list(): Promise<GroupView[]> {
    return this.#hub.request("/groups");
  }

  get(name: string): Promise<GroupView> {
    return this.#hub.request(groupPath(name));
  }

  /** Fails if the group exists. */
  create(name: string, entry: GroupInput, options?: EditOptions): Promise<GroupView> {
    return this.#hub.request("/groups", { method: "POST", body: { ...entry, name }, headers: ifMatch(options) });
  }

  /** What a group would expose; saves nothing. */
  preview(input: GroupPreviewInput): Promise<GroupPreview> {
    return this.#hub.request("/groups/preview", { method: "POST", body: input });
  }

  set(name: string, entry: GroupInput, options?: EditOptions): Promise<GroupView> {
    return this.#hub.request(groupPath(name), { method: "PUT", body: entry, headers: ifMatch(options) });
  }

  delete(name: string, options?: EditOptions): Promise<void> {
    return this.#hub.request(groupPath(name), { method: "DELETE", headers: ifMatch(options) });
  }

  tools(name: string): Promise<GroupTool[]> {
    return this.#hub.request(`${groupPath(name)}/tools`);
  }

  /** By the name that clients see, or `server:tool`. */
  tool(name: string, tool: string): Promise<GroupToolDetail> {
    return this.#hub.request(`${groupPath(name)}/tools/${encodeURIComponent(tool)}`);
  }
}
