// The config in PostgreSQL: the same two texts as the files, with comments. Writers take turns across all replicas.

import { GROUP_FILE, parseServerDocument, SERVER_FILE, toConfig } from "../config/parse/documents.ts";
import { findWarnings } from "../config/parse/warnings.ts";
import type { ConfigFileName, EditOptions, LoadedConfig, StoredTexts } from "../config/files/config-store.ts";
import { requireRevision, TextConfig } from "../config/files/text-config.ts";
import { tooLarge } from "../config/parse/json.ts";
import { FILE_MAX_BYTES } from "../config/schema/limits.ts";
import { text } from "../identity/columns.ts";
import type { Changes } from "./changes.ts";
import type { Database, Sql } from "./database.ts";

export class PgConfig extends TextConfig {
  readonly #db: Database;
  readonly #changes: Changes;
  /** When the config was loaded last. */
  #version = 0;
  #edits = 0;

  constructor(db: Database, changes: Changes) {
    super();
    this.#db = db;
    this.#changes = changes;
  }

  async load(): Promise<LoadedConfig> {
    const { texts, version } = await this.#read();
    this.#version = version;
    const { mcp_server: servers, group } = texts;
    const document = parseServerDocument(servers ?? "", SERVER_FILE);
    const config = toConfig(document, group ?? "", GROUP_FILE);
    return {
      revision: String(version),
      config,
      present: { servers: servers !== undefined && document.hasOnlySettings !== true, groups: group !== undefined },
      warnings: [...document.warnings, ...findWarnings(config)],
    };
  }

  async readTexts(): Promise<StoredTexts> {
    const { texts, version } = await this.#read();
    return { mcp_server: texts.mcp_server ?? "", group: texts.group ?? "", revision: String(version) };
  }

  async watch(onChange: () => void): Promise<() => void> {
    return this.#changes.watch("config", {
      // What this hub changes itself is loaded by the one who changes it.
      isCurrent: (version) => this.#edits > 0 || version === this.#version,
      onChange,
    });
  }

  protected override async edit(
    file: ConfigFileName,
    options: EditOptions,
    change: (text: string) => string,
  ): Promise<void> {
    this.#edits++;
    try {
      this.#version = await this.#db.change("config", async (sql, version) => {
        requireRevision(options, String(version - 1));
        const next = change((await textsOf(sql))[file] ?? "");
        if (Buffer.byteLength(next) > FILE_MAX_BYTES) throw tooLarge(file === "group" ? GROUP_FILE : SERVER_FILE);
        await sql.run(
          "insert into plugboard.config values ($1, $2) on conflict (file) do update set text = excluded.text",
          file,
          next,
        );
        return version;
      });
    } finally {
      this.#edits--;
    }
  }

  /** Both texts and their version, as of one moment. */
  async #read(): Promise<{ readonly texts: Texts; readonly version: number }> {
    const rows = await this.#db.rows(
      `select n, file, text from plugboard.version left join plugboard.config on true where kind = 'config'`,
    );
    return { texts: toTexts(rows), version: Number(rows[0]?.["n"]) };
  }
}

type Texts = Partial<Record<ConfigFileName, string>>;

async function textsOf(sql: Sql): Promise<Texts> {
  return toTexts(await sql.rows("select file, text from plugboard.config"));
}

function toTexts(rows: readonly Readonly<Record<string, unknown>>[]): Texts {
  const texts: Texts = {};
  for (const row of rows) {
    const { file } = row;
    if (file === "mcp_server" || file === "group") texts[file] = text(row["text"]);
  }
  return texts;
}
