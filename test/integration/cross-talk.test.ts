// Two hundred clients of one hub, all with the same ids and the same progress tokens at the same time, while some cancel,
// some hang up and some calls time out: whatever reaches a client carries the marker of that client's own call.
// CROSS_TALK_CALLS says how many calls; the long run has a million.

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { Agent, request, type ClientRequest } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BIN, fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { randomFrom, type Random } from "../support/mutator.ts";
import { processesWithMark } from "../support/processes.ts";
import { startRemote, type Remote } from "../support/remote.ts";
import { connect } from "../support/rpc.ts";
import { onLines, openStream, type OpenStream } from "../support/streams.ts";

const CALLS = Number(process.env["CROSS_TALK_CALLS"] ?? 12_000);
const SEED = Number(process.env["CROSS_TALK_SEED"] ?? 20261116);
const LEGACY = 100;
const MODERN = 80;
/** Programs that speak stdio, and how many calls each has open at a time. */
const STDIO = 2;
const STDIO_AT_ONCE = 10;
const TOKEN = "same for all";
const SERVERS = ["pipe-a", "pipe-b", "pipe-modern", "web-json", "web-events", "web-modern"] as const;
/** Gives up long before its slow calls are done. */
const HASTY = "hasty";

let remotes: Remote[] = [];
let homes: Home[] = [];
const programs: ChildProcessWithoutNullStreams[] = [];
let hub: RunningHub;
let url: string;
const agent = new Agent({ keepAlive: true, maxSockets: LEGACY + MODERN });

beforeAll(async () => {
  remotes = await Promise.all([
    startRemote("legacy-http"),
    startRemote("legacy-http", ["--sse"]),
    startRemote("modern-http"),
  ]);
  const [json, events, modern] = remotes;
  const web = { "web-json": json?.entry ?? {}, "web-events": events?.entry ?? {}, "web-modern": modern?.entry ?? {} };
  const home = await makeHome({
    ...web,
    "pipe-a": fixture("echo"),
    "pipe-b": fixture("echo"),
    "pipe-modern": fixture("modern"),
    [HASTY]: { ...fixture("echo"), timeout: 100 },
  });
  // These start servers of their own, but meet the others at the remote ones.
  homes = [home, await makeHome({ ...web, "pipe-a": fixture("echo") })];
  hub = await startHub(home);
  url = `${hub.url}/mcp`;
});

afterAll(async () => {
  agent.destroy();
  // Only where the test failed before it could end them.
  for (const program of programs) program.kill("SIGTERM");
  await hub?.stop();
  await Promise.all(remotes.map(({ stop }) => stop()));
  for (const home of homes) {
    expect(processesWithMark(home.mark)).toEqual([]);
    await home.remove();
  }
});

type Fate = "wait" | "cancel" | "hang up";

interface Call {
  readonly id: number;
  readonly marker: string;
  readonly fate: Fate;
  readonly message: { readonly jsonrpc: "2.0"; readonly id: number; readonly method: string; readonly params: object };
}

const tally = { answered: 0, failed: 0, gone: 0, notified: 0, late: 0 };
const foreign: string[] = [];
let left = CALLS;

/** The next call of a client, or none. All clients count from zero. */
function nextCall(
  client: string,
  id: number,
  random: Random,
  servers: readonly string[],
  meta: object,
): Call | undefined {
  if (left-- <= 0) return undefined;
  const dice = random(100);
  const fate: Fate = dice < 3 ? "cancel" : dice < 5 ? "hang up" : "wait";
  const times = dice === 5;
  const server = times ? HASTY : servers[random(servers.length)];
  // Some wait, so that answers overtake each other; those that are cancelled do so in the middle.
  const ms = times ? 300 : fate !== "wait" ? 20 + random(30) : random(4) === 0 ? 1 + random(10) : 0;
  const marker = `<${client}-${id}>`;
  const args = { marker, ...(ms === 0 ? {} : { ms }) };
  const params = { name: `${server}__mark`, arguments: args, _meta: { ...meta, progressToken: TOKEN } };
  return { id, marker, fate, message: { jsonrpc: "2.0", id, method: "tools/call", params } };
}

/** Everything that came back for a call: no other marker, no other id, no other token. */
function look({ id, marker, message }: Call, lines: readonly string[]): void {
  let answers = 0;
  const ofThisClient = marker.replace(/\d+>$/, "");
  for (const line of lines) {
    const said = JSON.parse(line);
    for (const [found] of line.matchAll(/<\w+-\d+>/g)) {
      if (found === marker) continue;
      // What a server logs for a call that this client has just given up: on a pipe nothing says whose it is, but its only caller.
      if (said.method === "notifications/message" && found.startsWith(ofThisClient)) tally.late++;
      else foreign.push(`${marker} got ${line}`);
    }
    if (said.method === undefined) {
      answers++;
      if (said.id !== id) foreign.push(`${marker} (${id}) got ${line}`);
      if (said.result?.content?.[0]?.text === marker) tally.answered++;
      else if (said.error !== undefined || said.result?.isError === true) tally.failed++;
      else foreign.push(`${JSON.stringify(message)} got ${line}`);
    } else {
      tally.notified++;
      if (said.method === "notifications/progress" && said.params.progressToken !== TOKEN) foreign.push(line);
    }
  }
  if (answers > 1) foreign.push(`${marker} got ${answers} answers`);
}

/** Sends a message; gives the lines of the answer, or undefined if there was none. */
function post(headers: Readonly<Record<string, string>>, message: object, onSent?: (request: ClientRequest) => void) {
  return new Promise<string[] | undefined>((resolve) => {
    const outgoing = request(url, { method: "POST", headers: { ...HEADERS, ...headers }, agent }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => (body += text));
      response.on("error", () => resolve(undefined));
      response.on("end", () => {
        const events = response.headers["content-type"] === "text/event-stream";
        resolve(events ? [...body.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => data) : body === "" ? [] : [body]);
      });
    });
    outgoing.on("error", () => resolve(undefined));
    outgoing.end(JSON.stringify(message));
    onSent?.(outgoing);
  });
}

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

async function legacyClient(number: number): Promise<void> {
  const random = randomFrom(SEED + number);
  const { headers } = await connect(url);
  // Some also hold the stream for what the hub says unasked: nothing of a call belongs there.
  const stream: OpenStream | undefined = number % 5 === 0 ? await openStream(url, { headers }) : undefined;
  for (let id = 0; ; id++) {
    const call = nextCall(`legacy${number}`, id, random, SERVERS, {});
    if (call === undefined) break;
    const lines = await post(headers, call.message, (outgoing) => {
      if (call.fate === "hang up") setTimeout(() => outgoing.destroy(), random(40));
      if (call.fate === "cancel") setTimeout(() => void post(headers, cancellation(id)), random(40));
    });
    if (lines === undefined) tally.gone++;
    else look(call, lines);
  }
  for (const message of stream?.messages.all ?? []) {
    if (JSON.stringify(message).includes("<")) foreign.push(`unasked: ${JSON.stringify(message)}`);
  }
  stream?.close();
}

const cancellation = (requestId: number) => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
});

async function modernClient(number: number): Promise<void> {
  const random = randomFrom(SEED + 1000 + number);
  const key = "io.modelcontextprotocol/";
  const meta = {
    [`${key}protocolVersion`]: "2026-07-28",
    [`${key}clientCapabilities`]: {},
    ...(number % 2 === 0 ? { [`${key}logLevel`]: "debug" } : {}),
  };
  for (let id = 0; ; id++) {
    const call = nextCall(`modern${number}`, id, random, SERVERS, meta);
    if (call === undefined) return;
    const { name } = call.message.params as { name: string };
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name };
    // Here closing the connection is the cancellation.
    const lines = await post(headers, call.message, (outgoing) => {
      if (call.fate !== "wait") setTimeout(() => outgoing.destroy(), random(40));
    });
    if (lines === undefined) tally.gone++;
    else look(call, lines);
  }
}

/** One program with several calls open; what is said without an id has its token, and the marker says the rest. */
class StdioClient {
  readonly #program: ChildProcessWithoutNullStreams;
  readonly #exited: Promise<unknown[]>;
  readonly #name: string;
  readonly #open = new Map<number, (line: string | undefined) => void>();
  readonly #markers = new Map<string, string>();
  #nextId = 0;

  constructor(number: number, home: Home) {
    this.#name = `stdio${number}`;
    this.#program = spawn(process.execPath, [BIN, "stdio"], { env: home.env });
    this.#exited = once(this.#program, "exit");
    this.#program.stderr.resume();
    onLines(this.#program.stdout, (line) => this.#line(line));
    programs.push(this.#program);
  }

  async run(): Promise<void> {
    const random = randomFrom(SEED + 2000 + Number(this.#name.slice(-1)));
    await this.#ask(this.#nextId++, {
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
    });
    this.#send({ jsonrpc: "2.0", method: "notifications/initialized" });
    await this.#ask(this.#nextId++, { method: "tools/list", params: {} });
    await Promise.all(Array.from({ length: STDIO_AT_ONCE }, () => this.#work(random)));
    this.#program.stdin.end();
    expect(await this.#exited).toEqual([0, null]);
  }

  async #work(random: Random): Promise<void> {
    for (;;) {
      const id = this.#nextId++;
      const call = nextCall(this.#name, id, random, ["pipe-a", "web-json", "web-events", "web-modern"], {});
      if (call === undefined) return;
      // Here every open call needs a token of its own.
      const { params } = call.message;
      const answer = this.#ask(id, { ...call.message, params: { ...params, _meta: { progressToken: call.marker } } });
      this.#markers.set(call.marker, call.marker);
      if (call.fate !== "wait") {
        setTimeout(() => {
          this.#send(cancellation(id));
          // It may have been answered by then; if not, it never is.
          setTimeout(() => this.#settle(id, undefined), 100);
        }, random(40));
      }
      const line = await answer;
      this.#markers.delete(call.marker);
      if (line === undefined) tally.gone++;
      else look(call, [line]);
    }
  }

  #ask(id: number, message: object): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#open.set(id, resolve);
      this.#send({ jsonrpc: "2.0", id, ...message });
    });
  }

  #send(message: object): void {
    this.#program.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #line(line: string): void {
    const said = JSON.parse(line);
    if (said.method === undefined) return this.#settle(said.id, line);
    tally.notified++;
    const { progressToken, message, data } = said.params ?? {};
    const marker = message ?? data;
    if (said.method === "notifications/progress" && progressToken !== marker) foreign.push(line);
    if (typeof marker === "string" && !marker.startsWith(`<${this.#name}-`)) foreign.push(`${this.#name} got ${line}`);
    // Of a call that this client has just given up.
    if (typeof marker === "string" && !this.#markers.has(marker)) tally.late++;
  }

  #settle(id: number, line: string | undefined): void {
    this.#open.get(id)?.(line);
    this.#open.delete(id);
  }
}

it(`T34 CL-6 ${CALLS} calls of 200 clients with equal ids: nothing reaches a client that is not its own`, async () => {
  const startedAt = performance.now();
  const [, stdioHome] = homes;
  if (stdioHome === undefined) return expect.fail("no home");
  await Promise.all([
    ...Array.from({ length: LEGACY }, (_, number) => legacyClient(number)),
    ...Array.from({ length: MODERN }, (_, number) => modernClient(number)),
    ...Array.from({ length: STDIO }, (_, number) => new StdioClient(number, stdioHome).run()),
  ]);
  const seconds = (performance.now() - startedAt) / 1000;
  process.stderr.write(
    `cross-talk: seed ${SEED}, ${CALLS} calls in ${seconds.toFixed(1)} s; ${JSON.stringify(tally)}\n`,
  );
  expect(foreign.slice(0, 5)).toEqual([]);
  expect(tally.answered + tally.failed + tally.gone).toBe(CALLS);
  // It was a test of something: most were answered, some were given up, and many were told of on the way.
  expect(tally.answered).toBeGreaterThan(CALLS * 0.8);
  for (const count of [tally.failed, tally.gone, tally.notified]) expect(count).toBeGreaterThan(CALLS / 200);
}, 3_600_000);
