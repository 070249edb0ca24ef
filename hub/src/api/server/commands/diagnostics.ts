// What helps to find out why something does not work: the history and the resources of a server, and the hub's own log.

import { open } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "@plugboard/shared/lenient";
import { isObject } from "../../../lib/json/json.ts";
import { usageOf } from "../../../servers/process/usage.ts";
import type { LogLine } from "../../schemas/log.ts";
import type { StatusChange, Usage } from "../../schemas/server.ts";
import type { Managed } from "../core.ts";

/** Of the log file, from its end. */
const MAX_READ_BYTES = 4 << 20;
const LEVELS: ReadonlyMap<unknown, LogLine["level"]> = new Map([
  [20, "debug"],
  [30, "info"],
  [40, "warn"],
  [50, "error"],
]);

export class DiagnosticCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  history(id: string, since?: number): StatusChange[] {
    const { hub } = this.#managed;
    return hub.history.of(hub.supervisor.get(id).name, since).map(({ at, durationMs, ...change }) => ({
      at: new Date(at).toISOString(),
      ...change,
      duration_ms: durationMs,
    }));
  }

  /** Null if the server has no process, or the system does not say. */
  async usage(id: string): Promise<Usage | null> {
    const { pid, instances } = this.#managed.hub.supervisor.get(id);
    const roots = [pid, ...instances.map((each) => each.pid)].filter((each) => each !== undefined);
    const found = roots.length === 0 ? undefined : await usageOf(roots);
    if (found === undefined) return null;
    const processes = found.map(({ rssBytes: rss_bytes, cpuMs: cpu_ms, ...each }) => ({ ...each, rss_bytes, cpu_ms }));
    return {
      processes,
      rss_bytes: processes.reduce((sum, { rss_bytes }) => sum + rss_bytes, 0),
      cpu_ms: processes.reduce((sum, { cpu_ms }) => sum + cpu_ms, 0),
    };
  }

  /** The last lines of the hub's own log, oldest first. The file is written within a second. */
  async logs(tail: number): Promise<LogLine[]> {
    const text = await readEnd(join(this.#managed.paths.state, "log.jsonl"));
    return text
      .split("\n")
      .slice(-tail - 1)
      .flatMap((line) => toLine(parseJson(line)));
  }
}

function toLine(line: unknown): LogLine[] {
  if (!isObject(line)) return [];
  const { time, level, msg, server, pid: _, hostname: __, name: ___, ...more } = line;
  const details = Object.entries(more).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return [
    {
      timestamp: String(time),
      level: LEVELS.get(level) ?? "info",
      message: [String(msg), ...details].join(" "),
      ...(typeof server === "string" ? { server } : {}),
    },
  ];
}

/** Empty if there is no log file, as in a hub that is embedded in a program. */
async function readEnd(path: string): Promise<string> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, "r");
  } catch {
    return "";
  }
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - MAX_READ_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
