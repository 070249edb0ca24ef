// Twenty real servers from npm and PyPI, none of which needs an account: their lists, results and errors through the hub,
// compared with those without it. The hub installs them concurrently into an empty home.

import { execFile, spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { childEnvironment } from "../../hub/src/servers/process/environment.ts";
import { makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark, seesTags } from "../support/processes.ts";
import { connect } from "../support/rpc.ts";

interface Real {
  readonly command: "npx" | "uvx";
  readonly spec: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether a call without arguments is compared too. */
  readonly refuses?: boolean;
  /** Calls without effects outside this machine. */
  readonly calls?: readonly (readonly [tool: string, args: object])[];
}

const place = await mkdtemp(join(tmpdir(), "plugboard-real-"));
const repository = join(place, "repository");

const npm = (spec: string, more: Omit<Real, "command" | "spec"> = {}): Real => ({ command: "npx", spec, ...more });
const pypi = (spec: string, more: Omit<Real, "command" | "spec"> = {}): Real => ({ command: "uvx", spec, ...more });
const THOUGHT = { thought: "x", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };

const SERVERS: Readonly<Record<string, Real>> = {
  everything: npm("@modelcontextprotocol/server-everything@2026.8.31", { calls: [["echo", { message: "x" }]] }),
  memory: npm("@modelcontextprotocol/server-memory@2026.8.31", {
    env: { MEMORY_FILE_PATH: join(place, "memory.json") },
    calls: [["read_graph", {}]],
  }),
  filesystem: npm("@modelcontextprotocol/server-filesystem@2026.8.31", {
    args: [place],
    calls: [
      ["list_allowed_directories", {}],
      ["read_text_file", { path: "/no/such/file" }],
    ],
  }),
  thinking: npm("@modelcontextprotocol/server-sequential-thinking@2026.8.31", {
    calls: [["sequentialthinking", THOUGHT]],
  }),
  context7: npm("@upstash/context7-mcp@4.1.1"),
  eslint: npm("@eslint/mcp@0.3.13"),
  runner: npm("mcp-server-code-runner@0.1.8", {
    calls: [["run-code", { code: "console.log(1)", languageId: "javascript" }]],
  }),
  commands: npm("mcp-server-commands@0.5.0"),
  gitnode: npm("@cyanheads/git-mcp-server@2.15.3"),
  chart: npm("@antv/mcp-server-chart@0.9.10"),
  // Its message without a browser depends on the progress of its start.
  playwright: npm("@playwright/mcp@0.0.83", { refuses: false }),
  fetchnode: npm("@kazuph/mcp-fetch@1.6.3"),
  time: pypi("mcp-server-time==2026.10.19", {
    calls: [
      ["convert_time", { source_timezone: "UTC", time: "12:00", target_timezone: "Asia/Tokyo" }],
      ["get_current_time", { timezone: "No/Where" }],
    ],
  }),
  git: pypi("mcp-server-git==2026.10.19", { calls: [["git_status", { repo_path: repository }]] }),
  wikipedia: pypi("wikipedia-mcp==2.0.1"),
  excel: pypi("excel-mcp-server==2.2.2", { args: ["stdio"] }),
  calculator: pypi("mcp-server-calculator==0.2.1", { calls: [["calculate", { expression: "2+3" }]] }),
  duckduckgo: pypi("duckduckgo-mcp-server==0.7.0"),
  fetch: pypi("mcp-server-fetch==2026.10.24", { calls: [["fetch", { url: "not a url" }]] }),
  clock: pypi("mcp-simple-timeserver==3.3.2"),
};

/**
 * The capabilities that the hub announces to a legacy server: some servers offer more tools to clients with more capabilities.
 */
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };
const LISTS = { tools: "tools", resources: "resources", prompts: "prompts" } as const;
const ANSWER_MS = 120_000;

type Answer = { readonly result?: Record<string, unknown>; readonly error?: { code: number; message: string } };
type Ask = (method: string, params: object) => Promise<Answer>;

const isOnPath = (name: string) =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));
const hasUvx = isOnPath("uvx");
if (!hasUvx) process.stderr.write("left out, the servers from PyPI: no uvx on PATH: pip install uv\n");
const names = Object.keys(SERVERS).filter((name) => hasUvx || SERVERS[name]?.command === "npx");

/** A server started by a client, without the hub. */
class Direct {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #ids = 0;

  constructor({ command, spec, args = [], env = {} }: Real) {
    const words = command === "npx" ? ["-y", spec, ...args] : [spec, ...args];
    const granted = childEnvironment(process.env, env, { tag: "direct", launcher: command });
    this.#child = spawn(command, words, { cwd: place, env: granted, stdio: ["pipe", "pipe", "pipe"], detached: true });
    this.#child.stderr.resume();
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#receive(line));
  }

  readonly ask: Ask = (method, params) => {
    const id = ++this.#ids;
    this.#send({ jsonrpc: "2.0", id, method, params });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), ANSWER_MS);
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
    });
  };

  async initialize(): Promise<Answer> {
    const clientInfo = { name: "test", version: "1" };
    const hello = await this.ask("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: CAPABILITIES,
      clientInfo,
    });
    this.#send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return hello;
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.pid === undefined) return;
    const exited = once(this.#child, "exit");
    process.kill(-this.#child.pid, "SIGKILL");
    await exited;
  }

  #receive(line: string): void {
    let message: Answer & { id?: number; method?: string };
    try {
      message = JSON.parse(line) as typeof message;
    } catch {
      return;
    }
    const { id, method } = message;
    if (id === undefined) return;
    if (method === undefined) this.#waiting.get(id)?.(message);
    else if (method === "roots/list") this.#send({ jsonrpc: "2.0", id, result: { roots: [] } });
    else this.#send({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
  }

  #send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }
}

async function listAll(ask: Ask, kind: keyof typeof LISTS): Promise<unknown> {
  const items: unknown[] = [];
  for (let cursor: unknown; ;) {
    const { result, error } = await ask(`${kind}/list`, cursor === undefined ? {} : { cursor });
    // A server without a list returns an error; a group of the hub has every list, possibly empty.
    if (result === undefined) return error?.code === -32601 ? [] : error;
    items.push(...(result[LISTS[kind]] as unknown[]));
    cursor = result["nextCursor"];
    if (cursor === undefined) return items;
  }
}

/** Everything that is compared, by request. */
async function examine(ask: Ask, { calls = [], refuses = true }: Real): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  for (const kind of ["tools", "resources", "prompts"] as const) seen[`${kind}/list`] = await listAll(ask, kind);
  const tools = seen["tools/list"] as { name: string; inputSchema: { required?: string[] } }[];
  const strict = tools.find(({ inputSchema }) => (inputSchema.required ?? []).length > 0);
  const all = [...calls, ...(strict === undefined || !refuses ? [] : [[strict.name, {}] as const])];
  for (const [name, args] of all) {
    const { result, error } = await ask("tools/call", { name, arguments: args });
    seen[`${name} ${JSON.stringify(args)}`] = result ?? { code: error?.code, message: error?.message };
  }
  return seen;
}

describe("real servers through the hub and directly", () => {
  let home: Home;
  let hub: RunningHub;

  beforeAll(async () => {
    await mkdir(repository);
    await promisify(execFile)("git", ["init", "--quiet", "--initial-branch=main", repository]);
    const entries = names.map((name) => {
      const { command, spec, args = [], env = {} } = SERVERS[name] ?? npm(name);
      return [name, { command, args: [...(command === "npx" ? ["-y"] : []), spec, ...args], env, cwd: place }] as const;
    });
    const groups = Object.fromEntries(names.map((name) => [name, { servers: [name] }]));
    home = await makeHome(Object.fromEntries(entries), groups);
    const startedAt = performance.now();
    hub = await startHub(home);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    process.stderr.write(`${names.length} servers, cold: ${seconds} s\n`);
  }, 1_800_000);

  afterAll(async () => {
    await hub?.kill();
    await home?.remove();
    await rm(place, { recursive: true, force: true });
  });

  it("all of them come up in an empty home", async () => {
    const { stdout } = await plugboard(home, ["ls", "--json"]);
    const servers = JSON.parse(stdout) as { name: string; status: string; error: unknown }[];
    expect(servers.filter(({ status }) => status !== "running")).toEqual([]);
  });

  it.each(names)("MC-T4 %s lists, answers and refuses as it does directly", async (name) => {
    const real = SERVERS[name] ?? npm(name);
    const direct = new Direct(real);
    try {
      await direct.initialize();
      const client = await connect(`${hub.url}/mcp/${name}`, "2025-11-25", undefined, CAPABILITIES);
      const through: Ask = async (method, params) => (await client.request(method, params)) as Answer;
      expect(await examine(through, real)).toEqual(await examine(direct.ask, real));
    } finally {
      await direct.end();
    }
  });

  it.runIf(seesTags)("LC-5 nothing of them is left after the stop", async () => {
    expect(await hub.stop()).toBe(0);
    expect(processesWithMark(home.mark)).toEqual([]);
  });
});
