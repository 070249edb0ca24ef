// The built hub under test, in a process of its own, beside one healthy server. Servers with faults come and go through the
// management API, so that one hub has to survive all the faults of a family. What must hold afterwards is in
// post-conditions.ts.

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { vi } from "vitest";
import { fixture, makeHome, startHub, type Home, type RunningHub, type StartOptions } from "../support/hub.ts";
import { answerOf, http, modern, post, type HttpResult } from "../support/rpc.ts";
import { openStream, type OpenStream } from "../support/streams.ts";
import { Upstream, type Scenario } from "./scenario.ts";
import { fastEnvironment, fastSettings, REQUEST_MS } from "./settings.ts";

// eslint-disable-next-line typescript/no-explicit-any -- tests look into answers of any form
type Json = any;

interface HubFailure {
  readonly code: string;
  readonly kind: string;
  readonly message: string;
  readonly retry_after_ms?: number;
}

/** One call, as its caller saw it. */
export interface Outcome {
  readonly server: string;
  readonly tool: string;
  /** Finds its row in the call log. */
  readonly workflow: string;
  /** How many answers came; 0 where the caller left before. */
  readonly answers: number;
  readonly ms: number;
  readonly deadlineMs: number;
  /** What the tool said. */
  readonly text: string | undefined;
  /** A failure that the hub made. */
  readonly error: HubFailure | undefined;
  /** A JSON-RPC error that came through from the server. */
  readonly rpcError: { readonly code: number; readonly message: string } | undefined;
  readonly isError: boolean;
}

export interface CallOptions {
  readonly id?: string;
  readonly deadlineMs?: number;
  readonly meta?: object;
  /** In place of the usual ones, which are made of the id. */
  readonly args?: object;
}

interface ApiRequest {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const OTHER = "healthy";
/** For a machine that is busy: added to every deadline. */
const SLACK_MS = 10_000;
const END_MS = 30_000;

export class FaultHub {
  readonly running: RunningHub;
  readonly home: Home;
  /** Planted where credentials are; must never come out again. */
  readonly marker: string;
  /** What happens in the hub, as its API tells it. */
  readonly events: OpenStream;
  /** Every byte of the API that was read. */
  readonly read: string[] = [];
  readonly outcomes: Outcome[] = [];
  readonly added = new Map<string, Upstream>();
  readonly #token: string;
  #names = 0;

  private constructor(running: RunningHub, token: string, events: OpenStream, marker: string) {
    this.running = running;
    this.home = running.home;
    this.#token = token;
    this.events = events;
    this.marker = marker;
  }

  static async open(options: StartOptions & { home?: Home } = {}): Promise<FaultHub> {
    const home = options.home ?? (await makeHome({ [OTHER]: fixture("echo") }));
    const running = await startHub(home, { ...options, env: { ...fastEnvironment(), ...options.env } });
    const token = (await readFile(join(home.dir, "data/token"), "utf8")).trim();
    const headers = { authorization: `Bearer ${token}` };
    const events = await openStream(`${running.url}/api/v1/events?topics=server,catalog,config,warning`, { headers });
    const hub = new FaultHub(running, token, events, `secret-${randomUUID()}`);
    // Everything that is loaded or opened late is there before anything is counted.
    await hub.call(OTHER, "echo");
    await hub.calls(hub.outcomes.splice(0)[0]?.workflow ?? "");
    return hub;
  }

  get pid(): number {
    return this.running.process.pid ?? 0;
  }

  /** Adds a server with these faults; on stdio unless told. Resolves when it runs or has failed. */
  async add(scenario: Scenario, more: Readonly<Record<string, unknown>> = {}): Promise<{ name: string; up: Upstream }> {
    const up = new Upstream(this.home.dir, scenario);
    const name = this.nextName();
    this.added.set(name, up);
    const where = scenario.transport === "http" ? { url: await up.listen() } : up.command;
    await this.addEntry(name, { ...where, ...more });
    await this.untilState(name, "running", "error", "disconnected", "unauthenticated", "disabled");
    return { name, up };
  }

  nextName(): string {
    return `f${++this.#names}`;
  }

  async addEntry(name: string, entry: Readonly<Record<string, unknown>>): Promise<Json> {
    const [mark = "", value = ""] = this.home.mark.split("=");
    const secret =
      "url" in entry
        ? { headers: { authorization: `Bearer ${this.marker}` } }
        : { env: { API_KEY: this.marker, [mark]: value } };
    const body = { name, ...fastSettings(), ...secret, ...entry };
    const { status, json } = await this.api("/servers", { method: "POST", body });
    if (status !== 201) throw new Error(`The server was not added: ${JSON.stringify(json)}`);
    if (!this.added.has(name)) this.added.set(name, new Upstream(this.home.dir, {}));
    return json;
  }

  async remove(name: string): Promise<void> {
    await this.api(`/servers/${name}`, { method: "DELETE" });
    await this.added.get(name)?.stop();
    this.added.delete(name);
  }

  /** Calls a tool as a modern client does. Never rejects for what the hub or the server says. */
  async call(server: string, tool: string, options: CallOptions = {}): Promise<Outcome> {
    const { id = randomUUID(), deadlineMs = REQUEST_MS + SLACK_MS, meta = {} } = options;
    const workflow = randomUUID();
    const args = options.args ?? (server === OTHER ? { text: id } : { id });
    const _meta = { "io.plugboard/workflow_id": workflow, ...meta };
    const startedAt = performance.now();
    const { body } = await modern(`${this.running.url}/mcp`, "tools/call", {
      name: `${server}:${tool}`,
      arguments: args,
      _meta,
    });
    const outcome = { server, tool, workflow, deadlineMs, ms: performance.now() - startedAt, ...toAnswer(body) };
    this.outcomes.push(outcome);
    return outcome;
  }

  /** A request of the management API, with the token. */
  async api(path: string, asked: ApiRequest = {}): Promise<HttpResult & { json: Json }> {
    const { method = "GET", body, headers = {} } = asked;
    const answer = await http(`${this.running.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // Too slow for a hub whose clocks are sped up, and so not heard.
    if (answer.status === 408) return this.api(path, asked);
    this.read.push(answer.body);
    const json: Json = answer.body === "" ? undefined : JSON.parse(answer.body);
    return { ...answer, json };
  }

  async server(name: string): Promise<Json> {
    return (await this.api(`/servers/${name}`)).json;
  }

  /** Waits until a server is in one of these states, now or next. */
  async untilState(name: string, ...states: string[]): Promise<Json> {
    for (;;) {
      const seen = this.events.messages.all.length;
      const server = await this.server(name);
      if (states.includes(server.status)) return server;
      await this.events.messages.more(seen);
    }
  }

  /** Waits until a server was in this state, if only for an instant; gives the event. */
  passed(name: string, state: string): Promise<Json> {
    return this.events.messages.find(({ server, status }) => server === name && status === state);
  }

  /** The rows of the call log with this workflow. */
  async calls(workflow: string): Promise<Json[]> {
    return (await this.api(`/calls?workflow_id=${workflow}`)).json.items;
  }

  async metrics(): Promise<string> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const { body } = await http(`${this.running.url}/metrics`, { method: "GET", headers });
    this.read.push(body);
    return body;
  }

  /** The names that a group's clients see. */
  async tools(): Promise<string[]> {
    const { body } = await modern(`${this.running.url}/mcp`, "tools/list");
    return answerOf(body).result.tools.map(({ name }: { name: string }) => name);
  }

  post(message: unknown, headers: Readonly<Record<string, string>> = {}) {
    return post(`${this.running.url}/mcp`, message, headers);
  }

  /** Waits for something that the hub tells nobody about. */
  async until(what: () => boolean | Promise<boolean>, timeout = 30_000): Promise<void> {
    await vi.waitUntil(what, { timeout, interval: 20 });
  }

  /** Stops the hub in good order; its exit code. One that does not end is killed, and has none. */
  async end(): Promise<number | null> {
    for (const upstream of this.added.values()) await upstream.stop();
    this.events.close();
    const impatient = setTimeout(() => void this.running.kill(), END_MS);
    const code = await this.running.stop();
    clearTimeout(impatient);
    await this.home.remove();
    return code;
  }
}

/** What a body says about a call: an answer, or several where something is wrong. */
export function toAnswer(body: string): Pick<Outcome, "answers" | "text" | "error" | "rpcError" | "isError"> {
  const messages: Json[] = body.startsWith("{")
    ? [JSON.parse(body)]
    : body
        .split("\n")
        .filter((line) => line.startsWith("data: {"))
        .map((line) => JSON.parse(line.slice("data:".length)));
  const found = messages.filter((message) => "id" in message && ("result" in message || "error" in message));
  const { result, error } = found[0] ?? {};
  const made = result?._meta?.["io.plugboard/error"] ?? (isHubError(error?.data) ? error.data : undefined);
  return {
    answers: found.length,
    text: made === undefined ? result?.content?.[0]?.text : undefined,
    error: made,
    rpcError: made === undefined ? error : undefined,
    isError: result?.isError === true,
  };
}

function isHubError(data: unknown): boolean {
  return typeof data === "object" && data !== null && "kind" in data && "code" in data;
}
