// ConfigStore in memory, for a hub embedded in a program. Same formats and rules as the files.

import { parseServerDocument, toConfig } from "../parse/documents.ts";
import { findWarnings } from "../parse/warnings.ts";
import type { ConfigFileName, EditOptions, LoadedConfig, StoredTexts } from "./config-store.ts";
import { requireRevision, TextConfig } from "./text-config.ts";

export class MemoryConfig extends TextConfig {
  readonly #texts: Record<ConfigFileName, string>;
  #edits = 0;

  private constructor(texts: Record<ConfigFileName, string>) {
    super();
    this.#texts = texts;
  }

  static of({ mcpServers, groups = {}, limits }: { mcpServers: unknown; groups?: unknown; limits?: unknown }) {
    return new MemoryConfig({
      mcp_server: JSON.stringify({ mcpServers, limits }),
      group: JSON.stringify({ groups }),
    });
  }

  async load(): Promise<LoadedConfig> {
    const document = parseServerDocument(this.#texts.mcp_server);
    const config = toConfig(document, this.#texts.group);
    return {
      revision: String(this.#edits),
      config,
      present: { servers: true, groups: true },
      warnings: [...document.warnings, ...findWarnings(config)],
    };
  }

  async readTexts(): Promise<StoredTexts> {
    return { ...this.#texts, revision: String(this.#edits) };
  }

  /** Nobody else can change it. */
  async watch(): Promise<() => void> {
    return () => undefined;
  }

  protected override edit(file: ConfigFileName, options: EditOptions, change: (text: string) => string): void {
    requireRevision(options, String(this.#edits));
    this.#texts[file] = change(this.#texts[file]);
    this.#edits++;
  }
}
