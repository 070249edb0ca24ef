// The schema and its versions. Every released version needs a fixture here: test/fixtures/call-log/version-N.db.gz.

import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, it } from "vitest";
import { append, countCalls, entry, LogFolder, toolsOf } from "../../../../test/support/calls.ts";
import { connect } from "@plugboard/shared/sqlite/driver";
import { COLUMNS } from "../call-record.ts";
import { scrub } from "./call-table.ts";
import { CALL_LOG_FORM } from "./schema.ts";

const FIXTURES = fileURLToPath(new URL("../../../../test/fixtures/call-log", import.meta.url));
const CURRENT = CALL_LOG_FORM.oldestVersion + CALL_LOG_FORM.migrations.length - 1;
/** A year of calls: those of the fixtures must not be too old. */
const retention = { maxAgeMs: 100 * 365 * 24 * 3_600_000 };

let folder: LogFolder;
beforeEach(async () => {
  folder = await LogFolder.create();
  await mkdir(join(folder.dir, "data"));
});
afterEach(() => folder.remove());

async function placeVersion(version: number): Promise<Buffer> {
  const bytes = gunzipSync(await readFile(join(FIXTURES, `version-${version}.db.gz`)));
  await writeFile(folder.path, bytes);
  return bytes;
}

it("RS-4 the table has exactly the columns of a call", async () => {
  const log = folder.open();
  await log.query({});
  const db = await connect(folder.path);
  const names = db.prepare("SELECT name FROM pragma_table_info('call')").all();
  await db.close();
  const expected = ["id", ...Object.values(COLUMNS).map(({ name }) => name), "checksum"];
  expect(names.map(({ name }) => String(name)).toSorted()).toEqual(expected.toSorted());
});

it("RS-4 every version from the oldest readable one has a fixture", async () => {
  const expected = Array.from(
    { length: CALL_LOG_FORM.migrations.length },
    (_, index) => index + CALL_LOG_FORM.oldestVersion,
  );
  const names = await readdir(FIXTURES);
  for (const version of expected) expect(names).toContain(`version-${version}.db.gz`);
});

it("MG-5 RS-4 a database of version 5 is opened with its calls, and written to", async () => {
  await placeVersion(5);
  const log = folder.open({ retention });
  const { items } = await log.query({ workflowId: "w7" });
  expect(items).toMatchObject([
    {
      id: 8,
      timestamp: "2026-01-01T00:00:07.000Z",
      server_name: "github",
      tool_name: "t1",
      group_name: "default",
      client: "cursor",
      params: { i: 7 },
      result: { content: [] },
      outcome: "failed",
      duration_ms: 7,
    },
  ]);
  expect(await countCalls(log)).toBe(20);
  await append(log, entry({ tool: "new" }));
  expect((await toolsOf(log)).at(-1)).toBe("new");
  expect([await folder.quarantined(), folder.warnings]).toEqual([[], []]);
});

it("MG-5 RS-4 a database of version 5 gets the columns of version 6, and its rows keep their checksums", async () => {
  await placeVersion(5);
  const log = folder.open({ retention });
  const { items } = await log.query({ workflowId: "w7" });
  expect(items).toMatchObject([{ session: null, protocol: { client: null, server: null }, bytes: { in: 7, out: 14 } }]);
  await append(log, entry({ session: "abc", attempts: 2 }));
  await log.close();
  const db = await connect(folder.path);
  expect(await scrub(db)).toBeUndefined();
  await db.close();
});

it("MG-5 RS-4 a database of version 6 is opened with its calls", async () => {
  await placeVersion(6);
  const log = folder.open({ retention });
  const { items } = await log.query({ session: "session-1", limit: 1 });
  expect(items).toMatchObject([
    {
      id: 20,
      session: "session-1",
      client_version: "1.2.3",
      request_id: "request-19",
      trace_id: "0af7651916cd43dd8448eb211c80319c",
      protocol: { client: "2025-11-25", server: "2025-06-18" },
      queue_ms: 2,
      asked_ms: 3,
      attempts: 2,
      bytes: { in: 8, out: 14 },
    },
  ]);
  expect([await countCalls(log), await folder.quarantined(), folder.warnings]).toEqual([20, [], []]);
});

it("AU-5 MG-5 a database of version 7 is opened with its calls", async () => {
  await placeVersion(7);
  const log = folder.open({ retention });
  const { items } = await log.query({ principal: "user:1" });
  expect(items).toMatchObject([{ id: 2, principal: "user:1", token: "laptop", client: "cursor" }]);
  expect([await countCalls(log), await folder.quarantined(), folder.warnings]).toEqual([20, [], []]);
  await log.close();
  const db = await connect(folder.path);
  expect(await scrub(db)).toBeUndefined();
  await db.close();
});

it("F36 MG-5 a database of version 4 is set aside unchanged, and the warning names it", async () => {
  const bytes = await placeVersion(4);
  const log = folder.open({ retention });
  await append(log, entry());
  expect(await countCalls(log)).toBe(1);
  const [aside = "", ...others] = await folder.quarantined();
  expect([aside, others]).toEqual([expect.stringMatching(/^calls\.db\.old-\d{8}T\d{9}Z$/), []]);
  expect(await readFile(join(folder.dir, "data", aside))).toEqual(bytes);
  expect(folder.warnings).toEqual([
    `The database ${folder.path} was written by an older version of this program, in a format that is no longer supported: it was renamed to ${aside}, and a new one was started`,
  ]);
});

it("F36 a journal of an earlier version is set aside, and the warning names it", async () => {
  await mkdir(folder.journals);
  const name = `${2 ** 30}-1-abcd.1.journal`;
  await writeFile(join(folder.journals, name), "binary");
  await folder.open().query({});
  expect(await readdir(folder.journals)).toEqual([`${name}.old`]);
  expect(folder.warnings).toEqual([expect.stringContaining(`renamed to ${name}.old`)]);
});

it("F36 a database of a newer version is set aside as such", async () => {
  await placeVersion(CURRENT);
  const db = await connect(folder.path);
  db.exec("PRAGMA user_version = 99");
  await db.close();
  await folder.open().query({});
  expect(await folder.quarantined()).toEqual([expect.stringMatching(/^calls\.db\.newer-/)]);
});
