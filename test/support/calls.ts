// Calls for the tests of the call log, and a folder with logs on disk.

import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CallEnd, CallLog, CallStart } from "../../hub/src/call-log/port.ts";
import { journalFolder } from "../../hub/src/call-log/journal/journal.ts";
import { SqliteCallLog, type CallLogOptions } from "../../hub/src/call-log/sqlite/sqlite-call-log.ts";
import { Redactor } from "../../hub/src/redaction/redactor.ts";
import { connect } from "@plugboard/shared/sqlite/driver";

export type CallEntry = CallStart & CallEnd;

export function entry(changes: Partial<CallEntry> = {}): CallEntry {
  return {
    at: Date.now(),
    server: "s",
    tool: "t",
    group: "default",
    params: Buffer.from('{"a":1}'),
    result: Buffer.from('{"b":2}'),
    outcome: "ok",
    durationMs: 1,
    ...changes,
  };
}

/** Resolves when the call is recorded. */
export async function append(log: Pick<CallLog, "begin">, call: CallEntry): Promise<void> {
  await log.begin(call).finish(call);
}

/** The number of calls in a log, counted page by page. */
export async function countCalls(log: Pick<CallLog, "query">): Promise<number> {
  let count = 0;
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await log.query({ cursor, limit: 1000 });
    count += page.items.length;
    cursor = page.next_cursor;
  }
  return count;
}

/** The tools of the newest calls, oldest first. */
export async function toolsOf(log: Pick<CallLog, "query">): Promise<string[]> {
  return (await log.query({})).items.map(({ tool_name }) => tool_name).toReversed();
}

/** A temporary folder with a call log in it. */
export class LogFolder {
  readonly dir: string;
  readonly path: string;
  readonly journals: string;
  readonly warnings: string[] = [];
  readonly #logs: SqliteCallLog[] = [];

  private constructor(dir: string) {
    this.dir = dir;
    this.path = join(dir, "data", "calls.db");
    this.journals = journalFolder(this.path);
  }

  static async create(): Promise<LogFolder> {
    return new LogFolder(await mkdtemp(join(tmpdir(), "plugboard-calls-")));
  }

  open(options: Partial<CallLogOptions> = {}, path = this.path): SqliteCallLog {
    const onWarning = (message: string) => this.warnings.push(message);
    const log = new SqliteCallLog(path, { redactor: new Redactor(), onWarning, ...options });
    this.#logs.push(log);
    return log;
  }

  /** The number of calls in the database, as another process sees it. */
  async countRows(): Promise<unknown> {
    // Opening a missing database would create it.
    if (!existsSync(this.path)) return 0;
    const db = await connect(this.path);
    try {
      return db.prepare("SELECT count(*) AS count FROM mcp_call_log").get()?.["count"];
    } finally {
      await db.close();
    }
  }

  /** The contents of all journals. */
  async journaled(): Promise<string> {
    const names = await readdir(this.journals);
    return (await Promise.all(names.map((name) => readFile(join(this.journals, name), "utf8")))).join("");
  }

  /** The names of databases that were set aside. */
  async quarantined(): Promise<string[]> {
    return (await readdir(join(this.dir, "data"))).filter((name) => /\.(corrupt|newer|old)-/.test(name));
  }

  async closeLogs(): Promise<void> {
    for (const log of this.#logs.splice(0)) await log.close();
  }

  async remove(): Promise<void> {
    await this.closeLogs();
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** All bytes of the call log in a data folder: database and journals. */
export async function recordedIn(data: string): Promise<string> {
  const names = (await readdir(data, { recursive: true })).filter((name) => name.startsWith("calls."));
  const texts = names.map((name) => readFile(join(data, name), "latin1").catch(() => "")); // a folder
  return (await Promise.all(texts)).join("");
}
