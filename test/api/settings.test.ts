// Settings of the hub over the API: kept in the config file, in force at once.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Settings } from "../../hub/src/api/schemas/settings.ts";
import { append } from "../support/calls.ts";
import { openManaged } from "../support/api.ts";
import { fixture } from "../support/hub.ts";
import { useOwnHub, type OwnHub } from "./own-hub.ts";

const DAY_MS = 24 * 3_600_000;
const GB = 1024 ** 3;

const open = useOwnHub();
const read = async (own: OwnHub): Promise<Settings> => (await own.ask("/settings")).json;
const change = (own: OwnHub, call_log: unknown, headers: Record<string, string> = {}) =>
  own.ask("/settings", { method: "PATCH", body: { call_log }, headers });

async function record({ hub: { callLog } }: OwnHub, at: number): Promise<void> {
  await append(callLog, {
    at,
    server: "echo",
    tool: "say",
    group: "default",
    params: Buffer.from("{}"),
    result: Buffer.from("{}"),
    outcome: "ok",
    durationMs: 1,
  });
}

describe("settings", () => {
  it("MG-4 show the defaults, the size and age of the call log, the folders and the address", async () => {
    const own = await open({});
    const first = await read(own);
    expect(first).toEqual({
      call_log: {
        retention_days: 30,
        max_bytes: GB,
        max_calls: 2_000_000,
        used_bytes: expect.any(Number),
        oldest_at: null,
      },
      otlp: { endpoint: null },
      paths: own.paths,
      listen: null,
    });
    const at = Date.now() - DAY_MS;
    await record(own, at);
    expect((await read(own)).call_log.oldest_at).toBe(new Date(at).toISOString());
  });

  it("MG-4 are saved beside the servers with all comments, and apply at once", async () => {
    const text = `{
  // mine
  "mcpServers": { "echo": ${JSON.stringify({ ...fixture("echo"), enabled: false })} }, // one
}
`;
    const own = await open({}, () => text);
    for (const days of [20, 1]) await record(own, Date.now() - days * DAY_MS);
    const { json, headers } = await change(own, { retention_days: 7, max_bytes: 64 << 20 });
    expect(json.call_log).toMatchObject({ retention_days: 7, max_bytes: 64 << 20 });
    await own.hub.callLog.prune();
    expect((await own.hub.callLog.query({})).items).toHaveLength(1);
    expect(await own.file()).toBe(
      text.replace("// one\n", '// one\n  "call_log": {\n    "retention_days": 7,\n    "max_bytes": 67108864\n  },\n'),
    );
    // A member that is not given stays, null restores the default, and no member at all removes the entry.
    expect((await change(own, { max_bytes: null })).json.call_log).toMatchObject({ retention_days: 7, max_bytes: GB });
    expect((await change(own, { retention_days: null })).json.call_log).toMatchObject({ retention_days: 30 });
    expect(await own.file()).toBe(text);
    const stale = await change(own, { retention_days: 3 }, { "if-match": String(headers["etag"]) });
    expect(stale.json).toMatchObject({ status: 409 });
  });

  it("MG-4 that are invalid are refused with the allowed range, and nothing changes", async () => {
    const own = await open({});
    const before = await own.file();
    const cases: [unknown, string, RegExp][] = [
      [{ retention_days: 0 }, "call_log.retention_days", /more than 0 and at most 3650/],
      [{ retention_days: "week" }, "call_log.retention_days", /must be a number/],
      [{ max_bytes: 2_000_000.5 }, "call_log.max_bytes", /must be a whole number/],
      [{ max_bytes: 1000 }, "call_log.max_bytes", /from 1048576 \(1 MB\)/],
      [{ max_bytes: 2 ** 41 }, "call_log.max_bytes", /to 1099511627776 \(1 TB\)/],
      [{ days: 3 }, "call_log.days", /Unknown field/],
    ];
    for (const [given, field, message] of cases) {
      const { json } = await change(own, given);
      expect(json).toMatchObject({ status: 400, field, message: expect.stringMatching(message) });
    }
    expect(await own.file()).toBe(before);
    expect((await read(own)).call_log).toMatchObject({ retention_days: 30, max_bytes: GB });
  });

  it("MG-4 changed in the file by hand apply at once; invalid ones are reported, and the defaults apply", async () => {
    const own = await open({}, (text) => text.replace("{", '{ "call_log": { "retention_days": 2 }, '));
    expect((await read(own)).call_log).toMatchObject({ retention_days: 2 });
    const path = join(own.paths.config, "mcp_server.json");
    await writeFile(path, (await readFile(path, "utf8")).replace('"retention_days": 2', '"retention_days": -2'));
    const { json } = await own.ask("/config/reload", { method: "POST" });
    expect(json).toMatchObject({ description: "settings of the call log changed" });
    expect((await read(own)).call_log).toMatchObject({ retention_days: 30 });
    expect((await own.ask("/status")).json.warnings).toEqual([expect.stringContaining("call_log.retention_days")]);
  });

  it("MG-4 are kept by the next hub, and do not end the demo of a hub without servers", async () => {
    const first = await openManaged(undefined);
    const settings = await first.client.changeSettings({ call_log: { retention_days: 90 } });
    expect(settings.call_log.retention_days).toBe(90);
    expect((await first.client.status()).demo).toBe(true);
    const text = await readFile(join(first.paths.config, "mcp_server.json"), "utf8");
    expect(await first.end()).toEqual([]);
    const next = await open({}, () => text);
    expect((await read(next)).call_log.retention_days).toBe(90);
  });
});
