import { mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HubError } from "./errors.ts";
import { HubEvents } from "./events.ts";
import { startFileLog, startLog } from "./log.ts";

describe("the structured log", () => {
  it("RS-6 has a line for connects, failures, calls and reloads, and nothing that a server printed", async () => {
    const lines: string[] = [];
    const events = new HubEvents();
    await startLog(events, { write: (line) => lines.push(line) });
    const error = new HubError("PackageNotFound", "Package not found", { detail: "token=planted-secret" }).toJSON();
    events.emit("server.status", { server: "git", status: { state: "running", tools: ["a", "b"], since: 0 } });
    events.emit("server.status", { server: "bad", status: { state: "error", error, since: 0 } });
    events.emit("call.finished", {
      server: "git",
      tool: 'a\n{"level":60}',
      group: "work",
      durationMs: 1.23456,
      ok: true,
    });
    events.emit("call.finished", { server: "git", tool: "b", group: "work", durationMs: 2, ok: false, error });
    events.emit("config.rejected", { error });
    events.emit("warning", { message: "careful" });
    const records = lines.map((line) => JSON.parse(line));
    expect(records).toMatchObject([
      { server: "git", tools: 2, msg: "server running" },
      { server: "bad", code: "NOT_FOUND", error: "Package not found" },
      { server: "git", tool: 'a\n{"level":60}', group: "work", ok: true, duration_ms: 1.235 },
      { tool: "b", ok: false, kind: "PackageNotFound" },
      { code: "NOT_FOUND" },
      { msg: "careful" },
    ]);
    expect(lines.join("")).not.toContain("planted-secret");
  });

  describe("in a file", () => {
    let dir: string;
    beforeEach(async () => (dir = await mkdtemp(join(tmpdir(), "plugboard-log-"))));
    afterEach(() => rm(dir, { recursive: true }));

    it("T13 is its owner's alone, and a large one is kept aside", async () => {
      const path = join(dir, "state/log.jsonl");
      const events = new HubEvents();
      const first = await startFileLog(events, path);
      events.emit("warning", { message: "one" });
      await new Promise<void>((resolve) => first.flush(() => resolve()));
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(await readFile(path, "utf8")).toContain('"one"');
      await writeFile(path, "");
      await truncate(path, (16 << 20) + 1);
      await startFileLog(new HubEvents(), path);
      expect((await stat(`${path}.1`)).size).toBe((16 << 20) + 1);
    });
  });
});
