// Two hundred clients of one hub use the same ids and progress tokens at the same time; some cancel, some disconnect, and some
// calls time out. Every message that reaches a client carries the marker of one of its own calls. The long run has a million
// calls.

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
import { scaled, testSeed } from "../support/scale.ts";

const CALLS = scaled(12_000, 1_000_000);
const SEED = testSeed(20261116);
const LEGACY = 100;
const MODERN = 80;
/** Clients on stdio, and the number of concurrent calls of each. */
const STDIO = 2;
const STDIO_AT_ONCE = 10;
const TOKEN = "same for all";
const SERVERS = ["pipe-a", "pipe-b", "pipe-modern", "web-json", "web-events", "web-modern"] as const;
/** Its timeout is shorter than its slow calls. */
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
  // Clients on stdio start their own local servers and share the remote ones.
  homes = [home, await makeHome({ ...web, "pipe-a": fixture("echo") })];
  hub = await startHub(home);
  url = `${hub.url}/mcp`;
});

afterAll(async () => {
  agent.destroy();
  // Ends the programs of a failed test.
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

/** The next call of a client; undefined at the end. All clients number their calls from zero. */
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
  // Some calls take time, so that answers arrive out of order and cancellations arrive during the call.
  const ms = times ? 300 : fate !== "wait" ? 20 + random(30) : random(4) === 0 ? 1 + random(10) : 0;
  const marker = `<${client}-${id}>`;
  const args = { marker, ...(ms === 0 ? {} : { ms }) };
  const params = { name: `${server}__mark`, arguments: args, _meta: { ...meta, progressToken: TOKEN } };
  return { id, marker, fate, message: { jsonrpc: "2.0", id, method: "tools/call", params } };
}

/** Checks everything that arrived for a call: no other marker, id or token. */
function look({ id, marker, message }: Call, lines: readonly string[]): void {
  let answers = 0;
  const ofThisClient = marker.replace(/\d+>$/, "");
  for (const line of lines) {
    const said = JSON.parse(line);
    for (const [found] of line.matchAll(/<\w+-\d+>/g)) {
      if (found === marker) continue;
      // A log message of a call that this client has just cancelled. On stdio, log messages carry no request id, so the hub sends
      // it to the only client.
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

/** Sends a message. Resolves to the lines of the answer, or undefined if there was none. */
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
  // Some clients also keep the GET stream open, which must carry nothing of a call.
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
    // Modern clients cancel by closing the connection.
    const lines = await post(headers, call.message, (outgoing) => {
      if (call.fate !== "wait") setTimeout(() => outgoing.destroy(), random(40));
    });
    if (lines === undefined) tally.gone++;
    else look(call, lines);
  }
}

/** One program with several open calls. Notifications carry its token and are checked by their marker. */
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
      // On stdio every open call needs its own token.
      const { params } = call.message;
      const answer = this.#ask(id, { ...call.message, params: { ...params, _meta: { progressToken: call.marker } } });
      this.#markers.set(call.marker, call.marker);
      if (call.fate !== "wait") {
        setTimeout(() => {
          this.#send(cancellation(id));
          // A call that was not answered before its cancellation is never answered.
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
    // Belongs to a call that this client has just cancelled.
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
  // The run has exercised all cases: most calls were answered, some cancelled, and many notified.
  expect(tally.answered).toBeGreaterThan(CALLS * 0.8);
  for (const count of [tally.failed, tally.gone, tally.notified]) expect(count).toBeGreaterThan(CALLS / 200);
}, 3_600_000);
