// The built hub under test, in its own process, with one healthy server. Servers with faults are added and removed through the
// management API, so that one hub has to survive all faults of a family. post-conditions.ts checks what must hold afterwards.

import { randomUUID } from "node:crypto";
import { vi } from "vitest";
import { tokenOf } from "../support/client.ts";
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

/** One call as its caller saw it. */
export interface Outcome {
  readonly server: string;
  readonly tool: string;
  /** Identifies its row in the call log. */
  readonly workflow: string;
  /** The number of answers; 0 if the caller disconnected before. */
  readonly answers: number;
  readonly ms: number;
  readonly deadlineMs: number;
  /** The text of the tool result. */
  readonly text: string | undefined;
  /** An error of the hub. */
  readonly error: HubFailure | undefined;
  /** A JSON-RPC error passed on from the server. */
  readonly rpcError: { readonly code: number; readonly message: string } | undefined;
  readonly isError: boolean;
}

export interface CallOptions {
  readonly id?: string;
  readonly deadlineMs?: number;
  readonly meta?: object;
  /** Replaces the default arguments, which contain the id. */
  readonly args?: object;
}

interface ApiRequest {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const OTHER = "healthy";
/** Added to every deadline, for busy machines. */
const SLACK_MS = 10_000;
const END_MS = 30_000;

export class FaultHub {
  readonly running: RunningHub;
  readonly home: Home;
  /** A secret in the credentials of servers, which must not appear in any output. */
  readonly marker: string;
  /** The event stream of the API. */
  readonly events: OpenStream;
  /** All API responses. */
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
    const token = await tokenOf(home);
    const headers = { authorization: `Bearer ${token}` };
    const events = await openStream(`${running.url}/api/v1/events?topics=server,catalog,config,warning`, { headers });
    const hub = new FaultHub(running, token, events, `secret-${randomUUID()}`);
    // Load lazy modules and open lazy files before anything is counted.
    await hub.call(OTHER, "echo");
    await hub.calls(hub.outcomes.splice(0)[0]?.workflow ?? "");
    return hub;
  }

  get pid(): number {
    return this.running.process.pid ?? 0;
  }

  /** Adds a server with these faults, on stdio by default. Resolves when it runs or has failed. */
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

  /** Calls a tool as a modern client. Errors of the hub or the server are part of the outcome. */
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
    // The request was too slow for a hub with accelerated clocks, and was not processed.
    if (answer.status === 408) return this.api(path, asked);
    this.read.push(answer.body);
    const json: Json = answer.body === "" ? undefined : JSON.parse(answer.body);
    return { ...answer, json };
  }

  async server(name: string): Promise<Json> {
    return (await this.api(`/servers/${name}`)).json;
  }

  /** Resolves when a server is in one of these states. */
  async untilState(name: string, ...states: string[]): Promise<Json> {
    for (;;) {
      const seen = this.events.messages.all.length;
      const server = await this.server(name);
      if (states.includes(server.status)) return server;
      await this.events.messages.more(seen);
    }
  }

  /** Resolves to the event when a server has entered this state, even for a moment. */
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

  /** The exposed tool names. */
  async tools(): Promise<string[]> {
    const { body } = await modern(`${this.running.url}/mcp`, "tools/list");
    return answerOf(body).result.tools.map(({ name }: { name: string }) => name);
  }

  post(message: unknown, headers: Readonly<Record<string, string>> = {}) {
    return post(`${this.running.url}/mcp`, message, headers);
  }

  /** Polls for a condition that has no event. */
  async until(what: () => boolean | Promise<boolean>, timeout = 60_000): Promise<void> {
    await vi.waitUntil(what, { timeout, interval: 20 });
  }

  /** Stops the hub and returns its exit code; null if it had to be killed. */
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

/** Parses a response body: an answer, or several, which is an error. */
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
