// Damaged and foreign databases are quarantined, never changed, and recording continues.

import { mkdir, open, readdir, readFile, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { append, countCalls, entry, LogFolder } from "../../../../test/support/calls.ts";
import { Redactor } from "../../redaction/redactor.ts";
import { connect } from "@plugboard/shared/sqlite/driver";
import { captureEnd, captureStart, joinCall, readEnd, readStart, type StoredCall } from "../call-record.ts";
import { DEFAULT_RETENTION } from "./sqlite-call-log.ts";
import { SqliteCallStore } from "./store.ts";
import { scaled, testSeed } from "../../../../test/support/scale.ts";

const MUTATIONS = scaled(60, 1000);
const SEED = testSeed(1);

let folder: LogFolder;
beforeEach(async () => {
  folder = await LogFolder.create();
});
afterEach(() => folder.remove());

/** Puts a file where the database is expected. */
async function place(content: string | Buffer): Promise<void> {
  await mkdir(join(folder.dir, "data"), { recursive: true });
  await writeFile(folder.path, content);
}

describe("a damaged database", () => {
  it.each([
    ["text", "not a database at all, but a text of some length".repeat(100)],
    ["zeros", Buffer.alloc(8192)],
  ])("F36 of %s is set aside under a name with the date, and a new log is started", async (_name, content) => {
    await place(content);
    const log = folder.open();
    await append(log, entry());
    expect([await countCalls(log), log.degraded]).toEqual([1, undefined]);
    const [aside = "", ...others] = await folder.quarantined();
    expect(others).toEqual([]);
    expect(aside).toMatch(/^calls\.db\.corrupt-\d{8}T\d{9}Z$/);
    expect(await readFile(join(folder.dir, "data", aside))).toEqual(Buffer.from(content));
    expect(folder.warnings).toEqual([expect.stringContaining(aside)]);
  });

  it("F36 of zero length becomes a new log, with a warning", async () => {
    await place("once it held something");
    await truncate(folder.path);
    // The clock of a file system has a resolution of milliseconds.
    const later = new Date(Date.now() + 1000);
    await utimes(folder.path, later, later);
    const log = folder.open();
    await append(log, entry());
    expect([await countCalls(log), await folder.quarantined(), folder.warnings]).toEqual([
      1,
      [],
      [`The database ${folder.path} was empty: calls that were recorded before are lost`],
    ]);
  });

  it("F41 of zero length that was never written to, as a kill leaves it, is no reason for a warning", async () => {
    await mkdir(dirname(folder.path), { recursive: true });
    await (await open(folder.path, "wx")).close();
    const log = folder.open();
    await append(log, entry());
    expect([await countCalls(log), folder.warnings]).toEqual([1, []]);
  });

  it("F36 of another program is set aside unchanged", async () => {
    await place("");
    const other = await connect(folder.path);
    other.exec("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
    await other.close();
    const content = await readFile(folder.path);
    await folder.open().query({});
    const [aside = ""] = await folder.quarantined();
    expect(await readFile(join(folder.dir, "data", aside))).toEqual(content);
    expect(folder.warnings).toEqual([expect.stringMatching(/belongs to another program/)]);
  });

  it.each([
    ["a payload", "wanted-text"],
    ["a name", "server-of-this-call"],
    ["an error code", "CODE_OF_THIS_CALL"],
  ])("F36 with one flipped bit in %s is reported, and stays in use", async (_name, text) => {
    const first = folder.open();
    const call = entry({
      server: "server-of-this-call",
      result: Buffer.from('"wanted-text"'),
      errorCode: "CODE_OF_THIS_CALL",
    });
    for (let count = 0; count < 5; count++) await append(first, call);
    await first.close();
    const bytes = await readFile(folder.path);
    const at = bytes.indexOf(text) + 3;
    expect(at).toBeGreaterThan(3);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    await writeFile(folder.path, bytes);
    const log = folder.open({ scrubAfterMs: 1 });
    await expect
      .poll(() => folder.warnings)
      .toEqual([
        expect.stringMatching(/^The call log .* is damaged: call \d is .*plugboard stop, then plugboard doctor --fix$/),
      ]);
    expect([log.degraded, await countCalls(log), await folder.quarantined()]).toEqual([undefined, 5, []]);
  });

  it("is looked for repeatedly; an intact log gives no warning, and a missing one is not created", async () => {
    const log = folder.open({ scrubAfterMs: 1, scrubEveryMs: 1 });
    await log.query({});
    await append(log, entry());
    expect([await countCalls(log), folder.warnings]).toEqual([1, []]);
    await log.close();
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const none = folder.open({ scrubAfterMs: 1 }, join(folder.dir, "none", "calls.db"));
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    await none.close();
    expect(await readdir(folder.dir)).toEqual(["data"]);
  });

  it("F36 is kept three times, the oldest are removed", async () => {
    for (let count = 0; count < 5; count++) {
      await place(`damage ${count} `.repeat(1000));
      const log = folder.open();
      await log.query({});
      await log.close();
    }
    const left = await folder.quarantined();
    expect(left).toHaveLength(3);
    const text = await readFile(join(folder.dir, "data", left.at(-1) ?? ""), "utf8");
    expect(text.slice(0, 8)).toBe("damage 4");
  });

  it(
    `F36 after any of ${MUTATIONS} mutations opens or is set aside, and then works`,
    { timeout: 300_000 },
    async () => {
      const first = folder.open();
      for (let index = 0; index < 200; index++) {
        const result = Buffer.from(JSON.stringify("x".repeat(Math.floor(index / 20) * 300)));
        await append(first, entry({ server: `s${index % 7}`, tool: `t${index % 20}`, result }));
      }
      await first.close();
      const bytes = await readFile(folder.path);
      const random = randomOf(SEED);
      const after = toStored("after");
      const outcomes = { kept: 0, aside: 0, replaced: 0 };
      for (let count = 0; count < MUTATIONS; count++) {
        const mutated = join(folder.dir, "mutated");
        await mkdir(mutated);
        await writeFile(join(mutated, "calls.db"), mutate(bytes, random));
        const warnings: string[] = [];
        let degraded: string | undefined;
        const store = new SqliteCallStore(join(mutated, "calls.db"), {
          retention: DEFAULT_RETENTION,
          onWarning: (message) => warnings.push(message),
          onDegraded: (reason) => (degraded = reason),
        });
        await store.ready();
        if (warnings.length > 0) outcomes.aside++;
        // Writing or reading may detect the damage; then the file is replaced, and the next attempt succeeds.
        let isReplaced = false;
        for (let attempt = 0; attempt < 3; attempt++) {
          const isWritten = await store.insert([after], { journal: `j${attempt}`, from: 0, to: 1 }).then(
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
        await rm(mutated, { recursive: true });
      }
      // The mutations have hit every part of the file.
      expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(0);
    },
  );
});

function toStored(tool: string): StoredCall {
  const capture = { redactor: new Redactor() };
  const call = entry({ tool });
  const start = captureStart(call, capture);
  const end = captureEnd(call, call.server, capture);
  return joinCall(readStart(start.head), readEnd(end.head), {
    params: String(start.payload),
    result: String(end.payload),
  });
}

/** The number of calls, after several kinds of queries; 0 if the file turns out to be damaged. */
async function readAll(log: Pick<SqliteCallStore, "query">): Promise<number> {
  try {
    await log.query({ tool: "after" });
    await log.query({ success: false, slowerThanMs: 1 });
    return (await log.query({ limit: 1000 })).items.length;
  } catch (error) {
    expect(error).toMatchObject({ kind: "DatabaseError" });
    return 0;
  }
}

function mutate(bytes: Buffer, random: (below: number) => number): Buffer {
  const kind = random(10);
  if (kind === 0) return bytes.subarray(0, random(bytes.length));
  const copy = Buffer.from(bytes);
  // Half of them in the header and the first page.
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
