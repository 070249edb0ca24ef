// Files that are damaged, foreign or of another version: set aside, never written to, and the log goes on.

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { append, type CallEntry } from "../../../test/support/calls.ts";
import { Redactor } from "../calls/redact.ts";
import { toRoute, toStoredEnd, toStoredOpening } from "../calls/stored-call.ts";
import { SqliteCallLog } from "./call-log.ts";
import { DEFAULT_RETENTION } from "./retention.ts";
import { CALL_LOG_FORM } from "./call-schema.ts";
import { CallStore } from "./call-store.ts";
import { connect } from "./driver.ts";
import { HeadPackWriter } from "./head-pack.ts";

const MUTATIONS = Number(process.env["PLUGBOARD_MUTATIONS"] ?? 60);
const SEED = Number(process.env["PLUGBOARD_SEED"] ?? 1);

let dir: string;
let path: string;
let warnings: string[];
const logs: SqliteCallLog[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-damage-"));
  path = join(dir, "data", "calls.db");
  warnings = [];
});
afterEach(async () => {
  for (const log of logs.splice(0)) await log.close();
  await rm(dir, { recursive: true, force: true });
});

function open(at = path): SqliteCallLog {
  const log = new SqliteCallLog(at, {
    redactor: new Redactor(),
    onWarning: (message) => warnings.push(message),
  });
  logs.push(log);
  return log;
}

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

async function countOf(log: Pick<SqliteCallLog, "query">): Promise<number> {
  return (await log.query({ limit: 1000 })).items.length;
}

describe("a damaged file", () => {
  const asides = async () => (await readdir(join(dir, "data"))).filter((name) => /\.(corrupt|newer)-/.test(name));

  it.each([
    ["text", "not a database at all, but a text of some length".repeat(100)],
    ["zeros", Buffer.alloc(8192)],
  ])("F36 %s is set aside under a clear name, and a new log is started", async (_name, content) => {
    await mkdir(join(dir, "data"));
    await writeFile(path, content);
    const log = open();
    await append(log, entry());
    expect([log.degraded, await countOf(log)]).toEqual([undefined, 1]);
    const [aside, ...others] = await asides();
    expect(others).toEqual([]);
    expect(aside).toMatch(/^calls\.db\.corrupt-\d{8}T\d{9}Z$/);
    expect(await readFile(join(dir, "data", aside ?? ""))).toEqual(Buffer.from(content));
    expect(warnings).toEqual([expect.stringContaining(aside ?? "")]);
  });

  it("F36 C14 an empty file is a new log, and is told", async () => {
    await mkdir(join(dir, "data"));
    await writeFile(path, "");
    const log = open();
    await append(log, entry());
    expect([await countOf(log), await asides(), warnings]).toEqual([
      1,
      [],
      [`The database ${path} was empty: if it held anything before, that is gone`],
    ]);
  });

  it("F36 a database of another program is set aside, not written to", async () => {
    await mkdir(join(dir, "data"));
    const other = await connect(path);
    other.exec("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
    await other.close();
    const content = await readFile(path);
    await open().query({});
    const [aside] = await asides();
    expect(await readFile(join(dir, "data", aside ?? ""))).toEqual(content);
    expect(warnings).toEqual([expect.stringMatching(/not one of this program/)]);
  });

  it("MG-5 a log of an older version is migrated: its calls get their outcome", async () => {
    await mkdir(join(dir, "data"));
    const old = await connect(path);
    for (const migration of CALL_LOG_FORM.migrations.slice(0, 2)) old.exec(migration);
    old.exec(`PRAGMA user_version = 2; PRAGMA application_id = ${CALL_LOG_FORM.applicationId}`);
    const heads = new HeadPackWriter();
    heads.start(1);
    for (const [route, [success, code]] of [
      [1, ""] as const,
      [0, ""] as const,
      [0, "NETWORK_ERROR"] as const,
    ].entries()) {
      const values = `${route + 1}, 's', 't', 'default', '', '${code}', ${success}, 0`;
      old.exec(
        `INSERT INTO route (id, server, tool, group_name, client, error_code, success, truncated) VALUES (${values})`,
      );
      heads.add(Date.now(), route + 1, 1000);
    }
    old
      .prepare("INSERT INTO head (first, earliest, latest, heads) VALUES (1, ?, ?, ?)")
      .run(heads.earliest, heads.latest, heads.bytes);
    await old.close();
    const log = open();
    const { items } = await log.query({});
    expect(items.map(({ outcome, error_code }) => [outcome, error_code])).toEqual([
      ["failed", "NETWORK_ERROR"],
      ["tool_error", null],
      ["ok", null],
    ]);
    await append(log, entry());
    expect((await log.query({ outcome: "ok" })).items).toHaveLength(2);
    expect(await asides()).toEqual([]);
  });

  it("F36 a log of a newer version is set aside as such", async () => {
    const first = open();
    await append(first, entry());
    await first.close();
    const raw = await connect(path);
    raw.exec("PRAGMA user_version = 99");
    await raw.close();
    await open().query({});
    expect(await asides()).toEqual([expect.stringMatching(/^calls\.db\.newer-/)]);
  });

  it("F36 only the last three are kept", async () => {
    await mkdir(join(dir, "data"));
    for (let count = 0; count < 5; count++) {
      await writeFile(path, `damage ${count} `.repeat(1000));
      const log = open();
      await log.query({});
      await log.close();
    }
    const left = await asides();
    expect(left).toHaveLength(3);
    const text = await readFile(join(dir, "data", left.at(-1) ?? ""), "utf8");
    expect(text.slice(0, 8)).toBe("damage 4");
  });

  it(`F36 ${MUTATIONS} mutations: it opens or is set aside, and then it works`, { timeout: 300_000 }, async () => {
    const good = join(dir, "good.db");
    const first = open(good);
    for (let turn = 0; turn < 10; turn++) {
      const calls = Array.from({ length: 20 }, (_, index) =>
        entry({
          server: `s${index % 7}`,
          tool: `t${index}`,
          result: Buffer.from(JSON.stringify("x".repeat(turn * 300))),
        }),
      );
      for (const call of calls) await append(first, call);
    }
    await first.close();
    const bytes = await readFile(good);
    const random = randomOf(SEED);
    const onWarning = (message: string) => warnings.push(message);
    let degraded: string | undefined;
    const after = entry({ tool: "after" });
    const keeping = { redactor: new Redactor() };
    const call = {
      route: toRoute(after),
      opening: toStoredOpening(after, keeping),
      end: toStoredEnd(after, "s", keeping),
    };
    const outcomes = { kept: 0, aside: 0, replaced: 0 };
    for (let count = 0; count < MUTATIONS; count++) {
      const file = join(dir, "mutated", `${count}.db`);
      await mkdir(join(dir, "mutated"), { recursive: true });
      await writeFile(file, mutate(bytes, random));
      warnings = [];
      const store = new CallStore(file, {
        retention: DEFAULT_RETENTION,
        onWarning,
        onDegraded: (why) => (degraded = why),
      });
      await store.ready();
      if (warnings.length > 0) outcomes.aside++;
      // Writing or reading everything may meet the damage; then that file goes, too, and the next attempt succeeds.
      let isReplaced = false;
      for (let attempt = 0; attempt < 3; attempt++) {
        const isWritten = await store.write([call], { journal: `j${attempt}`, from: 0, to: 1 }).then(
          () => true,
          () => false,
        );
        if (isWritten && (await readAll(store)) > 0) break;
        isReplaced = true;
        expect([count, attempt]).not.toEqual([count, 2]);
        await store.ready();
      }
      expect([count, degraded]).toEqual([count, undefined]);
      if (isReplaced) outcomes.replaced++;
      else if (warnings.length === 0) outcomes.kept++;
      await store.close();
      await rm(join(dir, "mutated"), { recursive: true });
    }
    // The mutations did reach every kind of place.
    expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(0);
  });
});

/** How many calls are there, asked in several ways; 0 where the file turns out to be damaged. */
async function readAll(log: Pick<SqliteCallLog, "query">): Promise<number> {
  try {
    await log.query({ tool: "after" });
    await log.query({ success: false, slowerThanMs: 1 });
    return await countOf(log);
  } catch (error) {
    expect(error).toMatchObject({ kind: "DatabaseError" });
    return 0;
  }
}

function mutate(bytes: Buffer, random: (below: number) => number): Buffer {
  const kind = random(10);
  if (kind === 0) return bytes.subarray(0, random(bytes.length));
  const copy = Buffer.from(bytes);
  // Half of them in the header and the first page, where all that SQLite goes by stands.
  const at = random(2) === 0 ? random(4096) : random(bytes.length);
  if (kind === 1) copy.fill(random(256), at, Math.min(at + 4096, copy.length));
  else if (kind === 2)
    for (let index = at; index < Math.min(at + 4096, copy.length); index++) copy[index] = random(256);
  else for (let count = 0; count <= random(8); count++) copy[(at + random(64)) % copy.length] = random(256);
  return copy;
}

/** Repeatable (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return Math.floor((((value ^ (value >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}
