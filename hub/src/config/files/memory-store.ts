// ConfigStore in memory, for a hub embedded in a program. Same formats and rules as the files.

import { HubError } from "../../errors.ts";
import { changeCallLog } from "../edit/call-log-changes.ts";
import { addServer, findEntry, removeServer, replaceServer } from "../edit/server-changes.ts";
import { parseServerDocument, toConfig } from "../parse/documents.ts";
import { removeGroup, setGroup } from "../edit/group-changes.ts";
import { normalizeServer } from "../parse/normalize.ts";
import type { JsonObject } from "../parse/plain-object.ts";
import type { ConfigFileName, ConfigStore, EditOptions, LoadedConfig, StoredTexts } from "./config-store.ts";
import type { CallLogPatch } from "../schema/call-log.ts";
import type { GroupConfig, ServerConfig } from "../schema/types.ts";
import { findWarnings } from "../parse/warnings.ts";

export class MemoryConfig implements ConfigStore {
  #servers: string;
  #groups: string;
  #edits = 0;

  private constructor(servers: string, groups: string) {
    this.#servers = servers;
    this.#groups = groups;
  }

  static of({ mcpServers, groups = {}, limits }: { mcpServers: unknown; groups?: unknown; limits?: unknown }) {
    return new MemoryConfig(JSON.stringify({ mcpServers, limits }), JSON.stringify({ groups }));
  }

  async load(): Promise<LoadedConfig> {
    const document = parseServerDocument(this.#servers);
    const config = toConfig(document, this.#groups);
    return {
      revision: String(this.#edits),
      config,
      present: { servers: true, groups: true },
      warnings: [...document.warnings, ...findWarnings(config)],
    };
  }

  async readEntry(name: string): Promise<JsonObject> {
    return findEntry(this.#servers, name);
  }

  async createServer(entry: unknown, options: EditOptions = {}): Promise<ServerConfig> {
    const server = normalizeServer(undefined, entry);
    this.#edit(options, () => (this.#servers = addServer(this.#servers, server, entry)));
    return server;
  }

  async updateServer(name: string, entry: unknown, options: EditOptions = {}): Promise<ServerConfig> {
    const server = normalizeServer(name, entry);
    this.#edit(options, () => (this.#servers = replaceServer(this.#servers, name, { server, entry })));
    return server;
  }

  async deleteServer(name: string, options: EditOptions = {}): Promise<void> {
    this.#edit(options, () => (this.#servers = removeServer(this.#servers, name)));
  }

  async setGroup(name: string, entry: unknown, options: EditOptions = {}): Promise<GroupConfig> {
    const { text, group } = setGroup(this.#groups, name, entry);
    this.#edit(options, () => (this.#groups = text));
    return group;
  }

  async deleteGroup(name: string, options: EditOptions = {}): Promise<void> {
    this.#edit(options, () => (this.#groups = removeGroup(this.#groups, name)));
  }

  async setCallLog(patch: CallLogPatch, options: EditOptions = {}): Promise<void> {
    this.#edit(options, () => (this.#servers = changeCallLog(this.#servers, patch)));
  }

  async readTexts(): Promise<StoredTexts> {
    return { mcp_server: this.#servers, group: this.#groups, revision: String(this.#edits) };
  }

  async replaceText(file: ConfigFileName, text: string, options: EditOptions = {}): Promise<void> {
    this.#edit(options, () => {
      if (file === "group") this.#groups = text;
      else this.#servers = text;
    });
  }

  /** Nobody else can change it. */
  async watch(): Promise<() => void> {
    return () => undefined;
  }

  #edit({ ifRevision }: EditOptions, change: () => void): void {
    if (ifRevision !== undefined && ifRevision !== String(this.#edits)) {
      throw new HubError("Conflict", "The config has changed since you read it", {
        hint: "Read it again and retry",
      });
    }
    change();
    this.#edits++;
  }
}
