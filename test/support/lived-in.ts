// A hub as it is after some use: servers in several states, calls of several days, and a home with the files of other clients.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  captureEnd,
  captureStart,
  joinCall,
  readEnd,
  readStart,
  type StoredCall,
} from "../../hub/src/call-log/call-record.ts";
import { CallTable } from "../../hub/src/call-log/sqlite/call-table.ts";
import { openLog } from "../../hub/src/call-log/sqlite/open-log.ts";
import { Redactor } from "../../hub/src/redaction/redactor.ts";
import { entry, type CallEntry } from "./calls.ts";
import { failing, fixture, makeHome, published, startHub, type Home, type RunningHub, type Servers } from "./hub.ts";

/** In the files of clients. It may appear on no page. */
export const CLIENT_SECRET = "client-secret-60d1";
const OWN_SERVER = { url: "https://far.example/mcp" };

/** Files below HOME, by their path. */
export const CLIENT_FILES: Readonly<Record<string, string>> = {
  ".cursor/mcp.json": `{
  // mine
  "mcpServers": {
    "far": ${JSON.stringify(OWN_SERVER)},
    "tickets": { "command": "npx", "args": ["-y", "tickets"], "env": { "API_KEY": "${CLIENT_SECRET}" } }
  }
}
`,
  ".claude.json": `{ "numStartups": 3, "mcpServers": {} }\n`,
  ".codex/config.toml": "[mcp_servers.time\ncommand = 1",
};

const SERVERS: Servers = {
  everything: published("server-everything"),
  memory: published("server-memory"),
  echo: { ...fixture("echo"), env: { API_KEY: { secretRef: "echo-key" } }, enabled: false },
  broken: failing("API_KEY"),
  far: { ...OWN_SERVER, enabled: false },
};

export interface LivedInOptions {
  readonly servers?: Servers;
  /** How many calls the log has at the start. */
  readonly calls?: number;
}

/** Its end is the caller's: `stop` the hub and `remove` its home. */
export async function startLivedIn({ servers = SERVERS, calls = 500 }: LivedInOptions = {}): Promise<RunningHub> {
  const home = await makeHome(servers, { dev: { servers: Object.keys(servers).slice(0, 1) } });
  for (const [path, text] of Object.entries(CLIENT_FILES)) {
    await mkdir(dirname(join(home.dir, path)), { recursive: true });
    await writeFile(join(home.dir, path), text);
  }
  if (calls > 0) await seedCalls(home, calls);
  return startHub(home, { env: { HOME: home.dir } });
}

const MINUTE_MS = 60_000;

/** Every seventh call was refused by its tool, and every fiftieth failed; the newest was a minute ago. */
function seededCall(n: number, end: number, step: number): CallEntry {
  const outcome = n % 50 === 0 ? "failed" : n % 7 === 0 ? "tool_error" : "ok";
  const text = outcome === "tool_error" ? `no entry ${n}` : `found ${n}`;
  const answer = { content: [{ type: "text", text }], ...(outcome === "tool_error" ? { isError: true } : {}) };
  return entry({
    at: end - n * step,
    server: n % 3 === 0 ? "memory" : "everything",
    tool: n % 3 === 0 ? "read_graph" : "echo",
    client: ["cursor", "codex", "claude-code"][n % 3],
    session: `session-${n % 5}`,
    params: Buffer.from(JSON.stringify({ message: `seeded ${n}`, number: n })),
    ...(outcome === "failed" ? { result: undefined } : { result: Buffer.from(JSON.stringify(answer)) }),
    outcome,
    durationMs: outcome === "failed" ? 5000 : 1 + (n % 97) * 7,
  });
}

/** Calls of the last day, inserted by the table of the call log itself: a million take seconds. */
async function seedCalls({ dir }: Home, count: number): Promise<void> {
  await mkdir(join(dir, "data"), { recursive: true, mode: 0o700 });
  const { db } = await openLog(join(dir, "data/calls.db"));
  const table = new CallTable(db);
  const end = Date.now() - MINUTE_MS;
  const step = Math.min(MINUTE_MS, (20 * 60 * MINUTE_MS) / count);
  const BATCH = 10_000;
  for (let from = count - 1, part = 0; from >= 0; from -= BATCH, part += 1) {
    const numbers = Array.from({ length: Math.min(BATCH, from + 1) }, (_, index) => from - index);
    const calls = numbers.map((n) => stored(seededCall(n, end, step)));
    table.insert(calls, { journal: JOURNAL, from: part, to: part + 1 });
  }
  table.forgetJournal(JOURNAL);
  await db.close();
}

const JOURNAL = "seed";
const REDACTOR = new Redactor();

function stored(call: CallEntry): StoredCall {
  const start = captureStart(call, { redactor: REDACTOR });
  const end = captureEnd(call, call.server, { redactor: REDACTOR });
  const [params, result] = [start, end].map(({ payload }) => payload?.toString() ?? null);
  return joinCall(readStart(start.head), readEnd(end.head), { params: params ?? null, result: result ?? null });
}
