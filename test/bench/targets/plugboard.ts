// Plugboard as users run it, with all features: a group, the call log, latencies and metrics, the log file.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HUB } from "../places.ts";
import { mcpUrl, type Stage, type Target } from "./target.ts";

/** Within this time the hub's worker thread has ingested every call. */
const LOG_DELAY_MS = 350;

export const plugboard: Target = {
  name: "plugboard",
  launch: async (stage) => {
    await writeConfig(stage);
    const { folder, port } = stage;
    return {
      command: [process.execPath, HUB, "up", "--port", String(port), "--drain", "0s"],
      env: { PLUGBOARD_HOME: folder },
      face: { kind: "http", url: mcpUrl(port, "/mcp/bench") },
      settle: () => callsAreStored(folder, port),
    };
  },
};

/** The command that a stdio client launches: a bridge to a running hub, or to any other server over HTTP. */
export const plugboardBridge: Target = {
  name: "plugboard stdio",
  launch: async ({ upstreams, folder }) => {
    const [only] = Object.values(upstreams);
    if (only === undefined || !("url" in only)) return undefined;
    return {
      command: [process.execPath, HUB, "stdio", "--url", only.url],
      env: { PLUGBOARD_HOME: folder },
      face: { kind: "stdio" },
    };
  },
};

/** The same command without a running hub: it is a complete hub itself. */
export const plugboardOwn: Target = {
  name: "plugboard stdio --own",
  launch: async (stage) => {
    await writeConfig(stage);
    return {
      command: [process.execPath, HUB, "stdio", "--own", "--group", "bench"],
      env: { PLUGBOARD_HOME: stage.folder },
      face: { kind: "stdio" },
      settle: () => sleep(LOG_DELAY_MS),
    };
  },
};

async function writeConfig({ folder, upstreams }: Stage): Promise<void> {
  const config = join(folder, "config");
  await mkdir(config, { recursive: true });
  const groups = { bench: { servers: Object.keys(upstreams) } };
  await Promise.all([
    writeFile(join(config, "mcp_server.json"), JSON.stringify({ mcpServers: upstreams })),
    writeFile(join(config, "group.json"), JSON.stringify(groups)),
  ]);
}

/** A query is answered when all earlier calls are in the database. */
async function callsAreStored(folder: string, port: number): Promise<void> {
  const token = (await readFile(join(folder, "data/token"), "utf8")).trim();
  const url = `http://127.0.0.1:${port}/api/v1/calls?limit=1`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`The hub's calls could not be asked for: HTTP ${response.status}`);
  await response.arrayBuffer();
}
