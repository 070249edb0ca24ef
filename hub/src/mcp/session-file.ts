// The legacy sessions of all endpoints in one file, so that they survive a restart or crash of the hub: an NDJSON log with a line
// for each session that begins, changes or ends. Written at once but not synced: only a crash of the machine loses the last
// lines. Opened with the first session, so that the start of the hub does not wait for it.

import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseJson } from "@plugboard/shared/lenient";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import {
  isRecord,
  MAX_RECORD_BYTES,
  type SessionRecord,
  type SessionRecords,
} from "../protocol/serve/session-records.ts";

export interface SessionFileOptions {
  readonly path: string;
  /** Records that were not refreshed for this long have expired. */
  readonly maxAgeMs: number;
  onWarning(message: string): void;
}

interface Entry {
  readonly endpoint: string;
  readonly record: SessionRecord;
  readonly at: number;
}

/** The file is compacted beyond this size. */
const COMPACT_BYTES = 1 << 20;
const MAX_ENTRIES = 4000;

export class SessionFile {
  readonly #options: SessionFileOptions;
  readonly #entries = new Map<string, Entry>();
  /** Undefined before it is opened, and if that failed. */
  #file: number | undefined;
  #state: "unopened" | "open" | "broken" | "closed" = "unopened";
  #bytes = 0;

  constructor(options: SessionFileOptions) {
    this.#options = options;
  }

  /** The records of one endpoint. */
  endpoint(name: string): SessionRecords {
    return {
      find: (id) => {
        this.#open();
        const entry = this.#entries.get(id);
        return entry === undefined || entry.endpoint !== name || this.#isOld(entry) ? undefined : entry.record;
      },
      put: (record) => {
        this.#open();
        const entry = { endpoint: name, record, at: Date.now() };
        const line = lineOf(entry);
        if (line.length > MAX_RECORD_BYTES) return this.#forget(record.id);
        this.#entries.delete(record.id);
        this.#entries.set(record.id, entry);
        this.#append(line);
      },
      remove: (id) => {
        this.#open();
        this.#forget(id);
      },
    };
  }

  /** The records stay for the next process. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#state = "closed";
  }

  #forget(id: string): void {
    if (this.#entries.delete(id)) this.#append(`${JSON.stringify({ id, ended: true })}\n`);
  }

  #open(): void {
    if (this.#state !== "unopened") return;
    this.#state = "open";
    this.#attempt(() => {
      mkdirSync(dirname(this.#options.path), { recursive: true, mode: 0o700 });
      this.#removeOthers();
      this.#read();
      this.#compact();
    });
  }

  #append(line: string): void {
    if (this.#file === undefined) return;
    this.#attempt(() => {
      if (this.#file !== undefined) this.#bytes += writeSync(this.#file, line);
      if (this.#bytes > COMPACT_BYTES || this.#entries.size > MAX_ENTRIES) this.#compact();
    });
  }

  #read(): void {
    let damaged = 0;
    for (const line of readIfExists(this.#options.path).split("\n")) {
      if (line === "") continue;
      const value = parseJson(line);
      const entry = isObject(value) ? entryOf(value) : undefined;
      if (isObject(value) && value["ended"] === true && typeof value["id"] === "string")
        this.#entries.delete(value["id"]);
      else if (entry === undefined) damaged++;
      else if (!this.#isOld(entry)) this.#entries.set(entry.record.id, entry);
    }
    if (damaged > 0) {
      this.#options.onWarning(
        `${this.#options.path}: ${damaged} damaged ${damaged === 1 ? "line" : "lines"} skipped; clients of these sessions have to connect again`,
      );
    }
  }

  /** Writes the current records into a new file and replaces the old one atomically. */
  #compact(): void {
    const { path } = this.#options;
    for (const [id, entry] of this.#entries) {
      if (this.#isOld(entry) || this.#entries.size > MAX_ENTRIES) this.#entries.delete(id);
    }
    const temp = join(dirname(path), `.${basename(path)}.${process.pid}.new.tmp`);
    const file = openSync(temp, "w", 0o600);
    try {
      this.#bytes = 0;
      const text = [...this.#entries.values()].map(lineOf).join("");
      if (text !== "") writeSync(file, text);
      renameSync(temp, path);
    } catch (error) {
      closeSync(file);
      rmSync(temp, { force: true });
      throw error;
    }
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = file;
  }

  /** Removes files of hubs at other addresses whose sessions have all expired. */
  #removeOthers(): void {
    const folder = dirname(this.#options.path);
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (path === this.#options.path) continue;
      const info = statSync(path, { throwIfNoEntry: false });
      if (info !== undefined && Date.now() - info.mtimeMs > this.#options.maxAgeMs) rmSync(path, { force: true });
    }
  }

  #isOld({ at }: Entry): boolean {
    return Date.now() - at > this.#options.maxAgeMs;
  }

  /** A failure does not fail the client's request: warns once and continues without records. */
  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (this.#file !== undefined) closeSync(this.#file);
      this.#file = undefined;
      this.#state = "broken";
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.onWarning(`Sessions will not survive a restart of the hub: ${this.#options.path}: ${reason}`);
    }
  }
}

function lineOf({ endpoint, record, at }: Entry): string {
  return `${JSON.stringify({ ...record, endpoint, at })}\n`;
}

function entryOf(value: JsonObject): Entry | undefined {
  const { endpoint, at, ...record } = value;
  if (typeof endpoint !== "string" || typeof at !== "number" || !isRecord(record)) return undefined;
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- checked just now
  return { endpoint, at, record: record as unknown as SessionRecord };
}

function readIfExists(path: string): string {
  const exists = statSync(path, { throwIfNoEntry: false }) !== undefined;
  return exists ? readFileSync(path, "utf8") : "";
}
