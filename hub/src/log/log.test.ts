import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HubError } from "../errors.ts";
import { HubEvents } from "../events.ts";
import { startFileLog, startLog } from "./log.ts";

const NO_CHANGES = { added: [], removed: [], restarted: [], updated: [], groups: false, settings: false } as never;

describe("the structured log", () => {
  it("RS-6 has a line for connections, failures, calls and reloads, and no output of servers", () => {
    const lines: string[] = [];
    const events = new HubEvents();
    startLog(events, { write: (line) => lines.push(line) });
    const error = new HubError("PackageNotFound", "Package not found", { detail: "token=planted-secret" }).toJSON();
    events.emit("server.status", { server: "git", status: { state: "running", tools: ["a", "b"], since: 0 } });
    events.emit("server.status", { server: "bad", status: { state: "error", error, since: 0 } });
    events.emit("call.finished", {
      server: "git",
      tool: 'a\n{"level":60}',
      group: "work",
      durationMs: 1.23456,
      outcome: "ok",
    });
    events.emit("call.finished", { server: "git", tool: "b", group: "work", durationMs: 2, outcome: "failed", error });
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

  it("RS-6 the line of a call has the same form as all others", () => {
    const lines: string[] = [];
    const events = new HubEvents();
    const log = startLog(events, { write: (line) => lines.push(line) });
    const error = new HubError("Timeout", 'No answer to "x"\n').toJSON();
    const call = { server: "git", tool: 'a"\u2028', group: "work", durationMs: 1.5 };
    events.emit("call.finished", { ...call, outcome: "ok" });
    events.emit("call.finished", { ...call, outcome: "failed", error });
    const { durationMs: duration_ms, ...names } = call;
    log.say("info", "call finished", { ...names, duration_ms, ok: true, outcome: "ok" });
    const why = { code: error.code, kind: error.kind, error: error.message };
    log.say("info", "call failed", { ...names, duration_ms, ok: false, outcome: "failed", ...why });
    const [done, failed, ...expected] = lines.map((line) => line.replace(/"time":"[^"]*"/, ""));
    expect([done, failed]).toEqual(expected);
  });

  it("RS-6 omits lines below its level", () => {
    const lines: string[] = [];
    const events = new HubEvents();
    startLog(events, { write: (line) => lines.push(line) }, { level: "warn" });
    events.emit("server.status", { server: "git", status: { state: "running", tools: [], since: 0 } });
    events.emit("warning", { message: "careful" });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 40, msg: "careful" }]);
  });

  describe("in a file", () => {
    let dir: string;
    beforeEach(async () => (dir = await mkdtemp(join(tmpdir(), "plugboard-log-"))));
    afterEach(() => rm(dir, { recursive: true }));

    it("T13 is private, and is rotated when it is large", async () => {
      const path = join(dir, "state/log.jsonl");
      const events = new HubEvents();
      const first = startFileLog(events, path);
      events.emit("warning", { message: "one" });
      first.flush();
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(await readFile(path, "utf8")).toContain('"one"');
      await writeFile(path, "");
      await truncate(path, (16 << 20) + 1);
      startFileLog(new HubEvents(), path);
      expect((await stat(`${path}.1`)).size).toBe((16 << 20) + 1);
    });

    it("RS-6 is rotated while the hub runs, without losing a line", async () => {
      const path = join(dir, "log.jsonl");
      await writeFile(path, "x".repeat(900) + "\n");
      const events = new HubEvents();
      const log = startFileLog(events, path, { maxBytes: 1000 });
      const say = (message: string) => {
        events.emit("warning", { message });
        log.flush();
      };
      say("one"); // exceeds the limit together with the existing file
      say("two");
      const messages = async (file: string) =>
        (await readFile(file, "utf8"))
          .split("\n")
          .filter((line) => line.startsWith("{"))
          .map((line) => JSON.parse(line).msg);
      expect(await messages(`${path}.1`)).toEqual(["one"]);
      expect(await messages(path)).toEqual(["two"]);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      const long = "y".repeat(2000);
      say(long);
      say("last");
      expect(await messages(`${path}.1`)).toEqual(["two", long]);
      expect(await messages(path)).toEqual(["last"]);
    });

    it("RS-6 is written as soon as its folder exists", async () => {
      const path = join(dir, "state/log.jsonl");
      await writeFile(join(dir, "state"), "in its way");
      const events = new HubEvents();
      const told = once(events, "warning");
      const log = startFileLog(events, path);
      expect(await told).toMatchObject([{ message: expect.stringMatching(/^The log file cannot be written: E/) }]);
      events.emit("config.reloaded", { changes: NO_CHANGES, description: "kept" });
      log.flush();
      await rm(join(dir, "state"));
      events.emit("config.reloaded", { changes: NO_CHANGES, description: "after it" });
      log.flush();
      expect(await readFile(path, "utf8")).toMatch(/"kept".*\n.*"after it"/);
    });

    it.runIf(existsSync("/dev/full"))("RS-6 a full disk costs lines and nothing else", async () => {
      const events = new HubEvents();
      const warned: string[] = [];
      startFileLog(events, "/dev/full");
      events.on("warning", ({ message }) => warned.push(message));
      const told = once(events, "warning");
      const error = new HubError("IoError", "x".repeat(20_000)).toJSON();
      events.emit("config.rejected", { error });
      await told;
      events.emit("config.rejected", { error });
      expect(warned).toEqual(["The log file cannot be written: ENOSPC"]);
    });
  });
});
