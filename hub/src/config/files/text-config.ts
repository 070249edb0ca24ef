// A ConfigStore whose adapters keep two texts. Here are the edits of these texts, the same for files, memory and database.

import { HubError } from "../../errors.ts";
import { changeCallLog } from "../edit/call-log-changes.ts";
import { removeGroup, setGroup } from "../edit/group-changes.ts";
import { addServer, findEntry, removeServer, replaceServer } from "../edit/server-changes.ts";
import { normalizeServer } from "../parse/normalize.ts";
import type { JsonObject } from "../parse/plain-object.ts";
import type { CallLogPatch } from "../schema/call-log.ts";
import type { GroupConfig, ServerConfig } from "../schema/types.ts";
import type { ConfigFileName, ConfigStore, EditOptions, LoadedConfig, StoredTexts } from "./config-store.ts";

export abstract class TextConfig implements ConfigStore {
  abstract load(): Promise<LoadedConfig>;
  abstract readTexts(): Promise<StoredTexts>;
  abstract watch(onChange: () => void): Promise<() => void>;

  /** Replaces a text by what `change` makes of the stored one. Nobody else edits it meanwhile. Throws Conflict by `ifRevision`. */
  protected abstract edit(
    file: ConfigFileName,
    options: EditOptions,
    change: (text: string) => string,
  ): Promise<void> | void;

  async readEntry(name: string): Promise<JsonObject> {
    return findEntry((await this.readTexts()).mcp_server, name);
  }

  async createServer(entry: unknown, options: EditOptions = {}): Promise<ServerConfig> {
    const server = normalizeServer(undefined, entry);
    await this.edit("mcp_server", options, (text) => addServer(text, server, entry));
    return server;
  }

  async updateServer(name: string, entry: unknown, options: EditOptions = {}): Promise<ServerConfig> {
    const server = normalizeServer(name, entry);
    await this.edit("mcp_server", options, (text) => replaceServer(text, name, { server, entry }));
    return server;
  }

  async deleteServer(name: string, options: EditOptions = {}): Promise<void> {
    await this.edit("mcp_server", options, (text) => removeServer(text, name));
  }

  async setGroup(name: string, entry: unknown, options: EditOptions = {}): Promise<GroupConfig> {
    const { group } = setGroup("", name, entry);
    await this.edit("group", options, (text) => setGroup(text, name, entry).text);
    return group;
  }

  async deleteGroup(name: string, options: EditOptions = {}): Promise<void> {
    await this.edit("group", options, (text) => removeGroup(text, name));
  }

  async setCallLog(patch: CallLogPatch, options: EditOptions = {}): Promise<void> {
    await this.edit("mcp_server", options, (text) => changeCallLog(text, patch));
  }

  async replaceText(file: ConfigFileName, text: string, options: EditOptions = {}): Promise<void> {
    await this.edit(file, options, () => text);
  }
}

/** Throws Conflict if another revision is required. */
export function requireRevision({ ifRevision }: EditOptions, stored: string): void {
  if (ifRevision === undefined || ifRevision === stored) return;
  throw new HubError("Conflict", "The config has changed since you read it", { hint: "Read it again and retry" });
}
