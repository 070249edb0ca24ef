// What only the log in a file can show: transactions, locks, a full disk, rights. Damage is in damage.test.ts.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { append, type CallEntry } from "../../../test/support/calls.ts";
import { Redactor } from "../calls/redact.ts";
import { journalsOf, SqliteCallLog, type CallLogOptions } from "./call-log.ts";
import type { Retention } from "./retention.ts";
import { connect } from "./driver.ts";
import { MAX_HEADS } from "./head-pack.ts";
import { findBlock } from "./journal-block.ts";

let dir: string;
let path: string;
let warnings: string[];
const logs: SqliteCallLog[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-calls-"));
  path = join(dir, "data", "calls.db");
  warnings = [];
});
afterEach(async () => {
  for (const log of logs.splice(0)) await log.close();
  await rm(dir, { recursive: true, force: true });
});

type Times = Pick<CallLogOptions, "wakeAfterMs" | "restAfterMs" | "isBusy">;

function open(retention: Partial<Retention> = {}, at = path, times: Times = {}): SqliteCallLog {
  const onWarning = (message: string) => warnings.push(message);
  const log = new SqliteCallLog(at, { redactor: new Redactor(), retention, onWarning, ...times });
  logs.push(log);
  return log;
}

const openRaw = (at = path) => connect(at);

const entry = (changes: Partial<CallEntry> = {}): CallEntry => ({
  at: Date.now(),
  server: "s",
  tool: "t",
  group: "default",
  params: Buffer.from('{"a":1}'),
  result: Buffer.from('{"b":2}'),
  outcome: "ok",
  durationMs: 1,
  ...changes,
});

/** Of calls, as another process finds them. */
async function countRows(): Promise<unknown> {
  // To open it would create it, empty, and the hub would warn of that.
  if (!existsSync(path)) return 0;
  const other = await openRaw();
  try {
    return other.prepare("SELECT count(*) AS count FROM mcp_call_log").get()?.["count"];
  } finally {
    await other.close();
  }
}

const journals = () => journalsOf(path);

/** All that stands in them. */
async function journaled(): Promise<string> {
  const names = await readdir(journals());
  return (await Promise.all(names.map((name) => readFile(join(journals(), name), "latin1")))).join("");
}

/** How often something was written to them. */
async function countBlocks(): Promise<number> {
  const bytes = Buffer.from(await journaled(), "latin1");
  let count = 0;
  for (let found = findBlock(bytes, 0); found.state === "block"; found = findBlock(bytes, found.next)) count++;
  return count;
}

const toolsOf = async (log: SqliteCallLog) =>
  (await log.query({})).items.map(({ tool_name }) => tool_name).toReversed();

const countOf = async (log: SqliteCallLog) => {
  let count = 0;
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await log.query({ cursor, limit: 1000 });
    count += page.items.length;
    cursor = page.next_cursor;
  }
  return count;
};

describe("SqliteCallLog", () => {
  it("RS-4 what was appended is in the journal at once, and then in the database, for every other process", async () => {
    const log = open();
    await append(log, entry({ tool: "first" }));
    expect(await journaled()).toContain('"first"');
    await log.query({});
    const other = await openRaw();
    expect(other.prepare("SELECT server_name, tool_name, params, success FROM mcp_call_log").all()).toMatchObject([
      { server_name: "s", tool_name: "first", params: '{"a":1}', success: 1 },
    ]);
    await other.close();
  });

  it("RS-4 every call has its own parameters and result, for the API and in SQLite, also when its neighbours are pruned", async () => {
    const log = open();
    const day = 24 * 3_600_000;
    const sent = Array.from({ length: 300 }, (_, index) => ({
      at: Date.now() - (index % 2 === 0 ? 29 * day : 0),
      tool: `t${index}`,
      params: index % 3 === 0 ? undefined : Buffer.from(JSON.stringify({ index })),
      result: Buffer.from(JSON.stringify("\u00e4".repeat(index === 150 ? 30_000 : index % 70))),
    }));
    await Promise.all(sent.map((call) => append(log, entry(call))));
    const rows = async () => {
      const { items } = await log.query({ limit: 1000 });
      const other = await openRaw();
      const inFile = other.prepare("SELECT tool_name, params, result FROM mcp_call_log ORDER BY id DESC").all();
      const packs = other.prepare("SELECT first, sizes FROM payload").all();
      await other.close();
      expect(inFile.map((row) => [row["tool_name"], json(row["params"]), json(row["result"])])).toEqual(
        items.map(({ tool_name, params, result }) => [tool_name, params, result]),
      );
      return { items, packs };
    };
    const json = (text: unknown): unknown =>
      text instanceof Buffer ? JSON.parse(text.toString()) : typeof text === "string" ? JSON.parse(text) : null;
    const expected = (calls: typeof sent) =>
      calls.map(({ tool, params, result }) => [tool, json(params), json(result)]).toReversed();
    const before = await rows();
    expect(before.items.map((row) => [row.tool_name, row.params, row.result])).toEqual(expected(sent));
    expect(before.packs.length).toBeLessThan(30);
    expect(await log.prune(Date.now() + 2 * day)).toBe(150);
    const after = await rows();
    expect(after.items.map((row) => [row.tool_name, row.params, row.result])).toEqual(
      expected(sent.filter((_call, index) => index % 2 === 1)),
    );
    expect(await log.prune(Date.now() + 31 * day)).toBe(150);
    expect(await rows()).toEqual({ items: [], packs: [] });
  });

  it(
    "RS-4 clients that call themselves another name each time leave nothing when their calls are pruned",
    { timeout: 60_000 },
    async () => {
      const log = open();
      const other = open();
      const day = 24 * 3_600_000;
      const at = Date.now() - 29 * day;
      await append(other, entry({ tool: "other's", client: "stays" }));
      const many = Array.from({ length: 10_500 }, (_, index) => append(log, entry({ at, client: `client ${index}` })));
      await Promise.all([...many, append(log, entry({ tool: "first", client: "stays" }))]);
      expect((await log.query({ client: "client 7" })).items).toHaveLength(1);
      await other.query({});
      expect(await log.prune(Date.now() + 2 * day)).toBe(10_500);
      // Neither takes the number of a route that is gone for one that is there.
      await append(log, entry({ tool: "t", client: "client 7" }));
      await append(other, entry({ tool: "t", client: "client 8" }));
      const { items } = await log.query({});
      expect(items.map((row) => row.tool_name).toSorted()).toEqual(["first", "other's", "t"]);
      expect(await toolsOf(other)).toHaveLength(4);
      const raw = await openRaw();
      const clients = raw
        .prepare("SELECT client, count(*) AS calls FROM mcp_call_log GROUP BY client ORDER BY client")
        .all();
      expect(clients).toEqual([
        { client: "client 7", calls: 1 },
        { client: "client 8", calls: 1 },
        { client: "stays", calls: 2 },
      ]);
      expect(raw.prepare("SELECT count(*) AS routes FROM route").get()).toEqual({ routes: 4 });
      await raw.close();
    },
  );

  it("RS-4 calls that come together are written together, beginnings and ends; one that comes alone is written at once", async () => {
    const log = open();
    const together = async () => {
      const calls = Array.from({ length: 16 }, () => log.begin(entry()));
      for (const { begun } of calls) await begun;
      const ends = calls.map((call) => call.finish(entry()));
      for (const ended of ends) await ended;
    };
    // The first of all cannot know that others come with it.
    await together();
    const before = await countBlocks();
    await together();
    expect(await countBlocks()).toBe(before + 2);
    const waits = async () => {
      const call = log.begin(entry());
      await call.begun;
      const ended = call.finish(entry());
      await ended;
      return call.begun !== undefined || ended !== undefined;
    };
    for (let count = 0; count < 4; count++) await waits();
    expect(await waits()).toBe(false);
    expect(await countOf(log)).toBe(37);
  });

  it("RS-4 calls that come one by one stand as close together as those that come at once, and leave nothing when they are pruned", async () => {
    const log = open();
    for (let index = 0; index < MAX_HEADS + 30; index++) {
      await append(log, entry({ workflowId: `w${index}` }));
      if (index % 10 === 0) await log.query({ limit: 1 });
    }
    expect(await countOf(log)).toBe(MAX_HEADS + 30);
    const counts = async () => {
      const raw = await openRaw();
      const rows = ["head", "workflow", "payload"].map(
        (table) => raw.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.["rows"],
      );
      await raw.close();
      return rows;
    };
    expect((await counts()).slice(0, 2)).toEqual([2, MAX_HEADS + 30]);
    expect(await log.prune(Date.now() + 365 * 24 * 3_600_000)).toBe(MAX_HEADS + 30);
    // The one row that is left has no calls: it says which id comes next.
    expect(await counts()).toEqual([1, 0, 0]);
    await append(log, entry());
    expect((await log.query({})).items.map(({ id }) => id)).toEqual([MAX_HEADS + 31]);
  });

  it("RS-4 calls get into the database without being asked for", async () => {
    const log = open({}, path, { wakeAfterMs: 10 });
    await append(log, entry());
    await vi.waitFor(async () => expect(await countRows()).toBe(1), 20_000);
  });

  it("RS-4 few calls start no thread, and are there when somebody asks; many start it at once", async () => {
    const log = open({}, path, { wakeAfterMs: 3_600_000 });
    await append(log, entry({ tool: "alone" }));
    expect(existsSync(path)).toBe(false);
    expect(await toolsOf(log)).toEqual(["alone"]);
    const many = join(dir, "many", "calls.db");
    const busy = open({}, many, { wakeAfterMs: 3_600_000 });
    for (let count = 0; count < 300; count++)
      await append(busy, entry({ result: Buffer.from(`"${"x".repeat(400)}"`) }));
    await vi.waitFor(() => expect(existsSync(many)).toBe(true), 20_000);
  });

  it("RS-4 while the hub has much to do calls wait in the journal; whoever asks finds them, and they are entered when it has less", async () => {
    let isBusy = true;
    let asked = () => {};
    const log = open({}, path, { wakeAfterMs: 1, isBusy: () => (asked(), isBusy) });
    const looked = () => new Promise<void>((resolve) => (asked = resolve));
    await append(log, entry());
    await looked();
    await looked();
    expect(existsSync(path)).toBe(false);
    expect(await toolsOf(log)).toHaveLength(1);
    await append(log, entry());
    await looked();
    await looked();
    expect(await countRows()).toBe(1);
    isBusy = false;
    await vi.waitFor(async () => expect(await countRows()).toBe(2), 20_000);
  });

  it("RS-4 however much the hub has to do, calls do not wait for long where they are many", async () => {
    const log = open({}, path, { wakeAfterMs: 3_600_000, isBusy: () => true });
    const result = Buffer.from(JSON.stringify("x".repeat(60_000)));
    for (let count = 0; count < 300; count++) await append(log, entry({ result }));
    await vi.waitFor(async () => expect(await countRows()).toBe(300), 20_000);
  });

  it("RS-4 a thread with nothing to do ends and lets go of the file; the next call is entered once, by another", async () => {
    const log = open({}, path, { wakeAfterMs: 10, restAfterMs: 50 });
    for (const [before, tool] of ["first", "second", "third"].entries()) {
      await append(log, entry({ tool }));
      await vi.waitFor(async () => expect(await countRows()).toBe(before + 1), 20_000);
      // SQLite removes its own log with the last connection.
      await vi.waitFor(() => expect(existsSync(`${path}-wal`)).toBe(false), 20_000);
    }
    expect(await toolsOf(log)).toEqual(["first", "second", "third"]);
    expect(warnings).toEqual([]);
  });

  it("RS-4 a call that takes long keeps its parameters, however much is entered meanwhile", async () => {
    const log = open();
    const slow = log.begin(entry({ tool: "slow", params: Buffer.from('{"mine":"slow"}') }));
    await slow.begun;
    const result = Buffer.from(JSON.stringify("x".repeat(60_000)));
    for (let count = 0; count < 50; count++) await append(log, entry({ result }));
    expect(await countOf(log)).toBe(50);
    for (let count = 0; count < 50; count++) await append(log, entry({ result }));
    expect(await countOf(log)).toBe(100);
    await slow.finish(entry({ result: Buffer.from('"done"') }));
    const { items } = await log.query({ tool: "slow" });
    expect(items).toMatchObject([{ params: { mine: "slow" }, result: "done" }]);
  });

  it("RS-4 a call that is under way is no row yet, and one however long it takes", async () => {
    const log = open();
    const call = log.begin(entry({ tool: "slow" }));
    await append(log, entry());
    expect(await toolsOf(log)).toEqual(["t"]);
    await call.finish(entry());
    expect(await toolsOf(log)).toEqual(["t", "slow"]);
  });

  it("RS-4 a full journal is followed by another; a call that is open meanwhile is not lost", async () => {
    const log = open();
    const call = log.begin(entry({ tool: "slow" }));
    const result = Buffer.from(JSON.stringify("x".repeat(60_000)));
    const names = new Set<string>();
    for (let turn = 0; names.size < 3; turn++) {
      for (let count = 0; count < 50; count++) await append(log, entry({ result, tool: `t${turn}` }));
      for (const name of await readdir(journals())) names.add(name);
      await log.query({ limit: 1 });
    }
    await call.finish(entry());
    expect((await log.query({ tool: "slow" })).items).toHaveLength(1);
    // What has been entered is removed.
    expect((await readdir(journals())).length).toBe(1);
    await log.close();
    expect(await readdir(journals())).toEqual([]);
  });

  it("F41 a call that is open when the log is closed has an unknown outcome", async () => {
    const log = open();
    log.begin(entry({ tool: "slow" }));
    await log.close();
    expect((await open().query({})).items).toMatchObject([
      { tool_name: "slow", success: false, error_code: "UNKNOWN", params: { a: 1 }, result: null },
    ]);
  });

  it("RS-4 calls survive closing and opening, and ids go on", async () => {
    const first = open();
    await append(first, entry());
    await first.close();
    await append(first, entry());
    expect(first.lost).toBe(1);
    await expect(first.query({})).rejects.toMatchObject({ kind: "DatabaseError" });
    const second = open();
    await append(second, entry());
    expect((await second.query({})).items.map(({ id }) => id)).toEqual([2, 1]);
  });

  it("RS-4 a call whose contents cannot be redacted is recorded without them", async () => {
    const redactor = new Redactor();
    vi.spyOn(redactor, "redact").mockImplementation((json) => {
      if (json !== undefined) throw new Error("a mistake of ours");
      return { json, truncated: false };
    });
    const log = new SqliteCallLog(path, { redactor, onWarning: (message) => warnings.push(message) });
    logs.push(log);
    await append(log, entry());
    expect((await log.query({})).items).toMatchObject([{ tool_name: "t", params: null, result: null }]);
    // On a busy machine there may be others, of a database that was held up.
    const ofContents = warnings.filter((message) => message.startsWith("The contents"));
    expect(new Set(ofContents)).toEqual(new Set(["The contents of a call to s are not kept: a mistake of ours"]));
  });

  it("RS-4 two processes can write to one file", async () => {
    const [a, b] = [open(), open()];
    for (let turn = 0; turn < 20; turn++) {
      await append(a, entry());
      await append(b, entry({ tool: `t${turn}` }));
      if (turn % 5 === 0) await Promise.all([a.query({}), b.query({})]);
    }
    await b.query({});
    expect([await countOf(a), a.degraded, b.degraded, a.lost + b.lost]).toEqual([40, undefined, undefined, 0]);
  });

  it("RS-4 a large page is cut short, and goes on with its cursor", async () => {
    const log = open();
    const result = Buffer.from(JSON.stringify({ text: "x".repeat(60_000) }));
    for (let turn = 0; turn < 4; turn++) {
      for (let n = 0; n < 50; n++) await append(log, entry({ result }));
    }
    const page = await log.query({ limit: 1000 });
    expect(page.items.length).toBeLessThan(160);
    expect(page.next_cursor).not.toBeNull();
    expect(await countOf(log)).toBe(200);
  });

  it("RS-4 pruning lets the event loop go on", async () => {
    const log = open();
    const at = Date.now() - 29 * 24 * 3_600_000;
    const result = Buffer.from(JSON.stringify({ text: "x".repeat(5000) }));
    for (let turn = 0; turn < 50; turn++) {
      await Promise.all(Array.from({ length: 200 }, () => append(log, entry({ at, result }))));
    }
    let turns = 0;
    const watch = setInterval(() => turns++, 1);
    expect(await log.prune(at + 31 * 24 * 3_600_000)).toBe(10_000);
    clearInterval(watch);
    expect(turns).toBeGreaterThan(10);
    expect(await countOf(log)).toBe(0);
  });

  it.skipIf(process.platform === "win32")("T13 file and side files are private, whatever the umask", async () => {
    const old = process.umask(0);
    try {
      const log = open();
      await append(log, entry());
      await log.query({});
      const modeOf = async (name: string) => ((await stat(name)).mode & 0o777).toString(8);
      const [journal = ""] = await readdir(journals());
      const files = [path, `${path}-wal`, `${path}-shm`, join(journals(), journal)];
      expect(await Promise.all(files.map(modeOf))).toEqual(["600", "600", "600", "600"]);
      expect(await Promise.all([journals(), join(dir, "data")].map(modeOf))).toEqual(["700", "700"]);
    } finally {
      process.umask(old);
    }
  });

  it("F35 a lock is waited for, calls are not held up, and nothing is lost", async () => {
    const log = open();
    await log.query({});
    const other = await openRaw();
    other.exec("BEGIN IMMEDIATE");
    await append(log, entry());
    expect(await journaled()).not.toBe("");
    other.exec("ROLLBACK");
    expect([await countOf(log), log.degraded]).toEqual([1, undefined]);
    await other.close();
  });

  it("F35 a lock that stays degrades the log; calls go on, and are entered when it is gone", async () => {
    const log = open();
    await append(log, entry());
    await log.query({});
    const other = await openRaw();
    other.exec("BEGIN IMMEDIATE");
    await append(log, entry());
    await vi.waitFor(() => expect(log.degraded).toMatch(/locked/), 20_000);
    for (let count = 0; count < 100; count++) await append(log, entry());
    // Reading is not held up by a writer.
    expect(await countOf(log)).toBe(1);
    other.exec("ROLLBACK");
    await other.close();
    await vi.waitFor(() => expect(log.degraded).toBeUndefined(), 20_000);
    expect([await countOf(log), log.lost]).toEqual([102, 0]);
    expect(warnings).toEqual([expect.stringMatching(/cannot be written/), expect.stringMatching(/written again/)]);
  });

  it("F35 what waits to be entered has a bound, and the rest is counted", async () => {
    const log = new SqliteCallLog(path, { redactor: new Redactor(), maxBehindBytes: 50_000 });
    logs.push(log);
    await log.query({});
    const other = await openRaw();
    other.exec("BEGIN IMMEDIATE");
    for (let count = 0; count < 2000; count++) await append(log, entry());
    const { lost } = log;
    expect(lost).toBeGreaterThan(500);
    other.exec("ROLLBACK");
    await other.close();
    await vi.waitFor(async () => expect(await countOf(log)).toBe(2000 - lost), 20_000);
    await vi.waitFor(() => expect(log.degraded).toBeUndefined(), 20_000);
    await append(log, entry());
    expect([await countOf(log), log.lost]).toEqual([2001 - lost, lost]);
  });

  it("F35 what a lock kept out of the database when the log was closed is entered by the next", async () => {
    const log = open();
    await log.query({});
    const other = await openRaw();
    other.exec("BEGIN IMMEDIATE");
    await append(log, entry());
    await log.close();
    other.exec("ROLLBACK");
    await other.close();
    expect(await countOf(open())).toBe(1);
  });

  it.skipIf(process.platform === "win32")("RS-4 a file that is removed is started anew", async () => {
    const log = open();
    await append(log, entry({ tool: "before" }));
    await log.query({});
    for (const side of ["", "-wal", "-shm"]) await rm(path + side);
    await append(log, entry({ tool: "after" }));
    // What is still in the journal comes back.
    expect(await toolsOf(log)).toEqual(["before", "after"]);
    await expect(stat(path)).resolves.toBeDefined();
  });

  it.skipIf(process.platform === "win32")("RS-4 journals that are removed are started anew", async () => {
    const log = open();
    const call = log.begin(entry({ tool: "slow" }));
    await append(log, entry({ tool: "before" }));
    await log.query({});
    await rm(journals(), { recursive: true });
    // Noticed when it is synced, within about a second.
    await vi.waitFor(async () => {
      await append(log, entry({ tool: "again" }));
      expect(await readdir(journals())).toHaveLength(1);
    }, 20_000);
    await call.finish(entry());
    await append(log, entry({ tool: "after" }));
    const tools = await toolsOf(log);
    expect([tools[0], ...tools.slice(-2)]).toEqual(["before", "slow", "after"]);
  });

  it("RS-4 a journal that somebody writes into costs the calls in it at most: the log goes on with the next one", async () => {
    const log = open({}, path, { wakeAfterMs: 3_600_000, restAfterMs: 50 });
    for (let count = 0; count < 3; count++) await append(log, entry());
    const [name = ""] = await readdir(journals());
    const bytes = await readFile(join(journals(), name));
    // Inside of the first block: records that cannot be.
    bytes.fill(0xff, 8, 40);
    await writeFile(join(journals(), name), bytes);
    expect(await countOf(log)).toBe(0);
    // It is not tried for ever: the thread comes to its rest, and lets go of the file.
    await vi.waitFor(() => expect(existsSync(`${path}-wal`)).toBe(false), 20_000);
    await log.close();
    const next = open();
    await append(next, entry({ tool: "after" }));
    expect(await toolsOf(next)).toContain("after");
  });

  it("RS-4 a log that cannot be opened is degraded, and comes up by itself", async () => {
    await writeFile(join(dir, "data"), "not a folder");
    const log = open();
    await append(log, entry());
    expect(log.degraded).toMatch(/cannot be written/);
    await expect(log.query({})).rejects.toMatchObject({ kind: "DatabaseError" });
    await rm(join(dir, "data"));
    await vi.waitFor(() => expect(log.degraded).toBeUndefined(), 20_000);
    expect(await countOf(log)).toBe(1);
  });
});

/** A disk of two megabytes, where this machine lets us make one. */
const canMount = () => {
  const at = join(tmpdir(), `plugboard-mount-${process.pid}`);
  const tried = spawnSync("sh", [
    "-c",
    `mkdir -p ${at} && mount -t tmpfs -o size=64k none ${at} && umount ${at}; rm -rf ${at}`,
  ]);
  return process.getuid?.() === 0 && tried.status === 0 && tried.stderr.length === 0;
};

describe("many routes", () => {
  it("RS-4 more of them than are remembered, over several journals: every call is found as it was", async () => {
    const log = open();
    const result = Buffer.from(JSON.stringify("x".repeat(8000)));
    const toolOf = (index: number) => `t${index % 1200}`;
    const held = log.begin(entry({ tool: "held" }));
    for (let index = 0; index < 2400; index++) {
      await append(log, entry({ tool: toolOf(index), result }));
      // Entered on the way: a journal is over when it has eight megabytes.
      if (index % 600 === 599) await log.query({ limit: 1 });
    }
    await held.finish(entry({ tool: "held" }));
    const found: string[] = [];
    for (let cursor: string | undefined; ;) {
      const { items, next_cursor } = await log.query({ limit: 1000, cursor });
      found.push(...items.map(({ tool_name }) => tool_name));
      if (next_cursor === null) break;
      cursor = next_cursor;
    }
    expect(found.toReversed()).toEqual([...Array.from({ length: 2400 }, (_, index) => toolOf(index)), "held"]);
    // The first one was full, and is gone with all that was in it.
    const [journal = ""] = await readdir(journalsOf(path));
    expect(journal).toMatch(/\.[2-9]\.journal$/);
  });
});

describe("a full disk", () => {
  it.skipIf(!canMount())(
    "F33 calls go on, the log says so, and recovers without a restart (needs root and tmpfs)",
    async () => {
      const disk = join(dir, "disk");
      await mkdir(disk);
      expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "none", disk]).status).toBe(0);
      try {
        const log = open({}, join(disk, "calls.db"));
        const result = Buffer.from(JSON.stringify({ text: "x".repeat(10_000) }));
        await append(log, entry({ tool: "t0" }));
        await log.query({});
        let appended = 1;
        for (; log.degraded === undefined && appended < 1000; appended++) {
          await append(log, entry({ result, tool: `t${appended}` }));
        }
        expect(log.degraded).toMatch(/full/);
        expect(appended).toBeLessThan(400);
        // What was entered before can be read.
        expect(await countOf(log)).toBeGreaterThan(0);
        for (let count = 0; count < 10; count++) await append(log, entry({ tool: `t${appended + count}` }));
        expect(spawnSync("mount", ["-o", "remount,size=64m", disk]).status).toBe(0);
        await vi.waitFor(() => expect(log.degraded).toBeUndefined(), 20_000);
        expect(log.lost).toBe(0);
        const names = (await log.query({ limit: 1000 })).items.map(({ tool_name }) => tool_name);
        expect(names.toReversed()).toEqual(Array.from({ length: appended + 10 }, (_, index) => `t${index}`));
        const raw = await openRaw(join(disk, "calls.db"));
        expect(raw.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
        await raw.close();
      } finally {
        // Closed first, also after a failure: a disk in use cannot be taken away.
        for (const log of logs.splice(0)) await log.close();
        spawnSync("umount", ["-l", disk]);
      }
    },
  );
});
