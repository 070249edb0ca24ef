// The built hub with protected servers behind it, as its users use it: logins through the management API and a browser, calls
// through MCP. Everything that it says is kept and searched for credentials at the end.

import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { toAnswer } from "../../faults/fault-hub.ts";
import { tokenOf } from "../client.ts";
import { makeHome, plugboard, startHub, type Finished, type Home, type RunningHub, type StartOptions } from "../hub.ts";
import { Outputs } from "../leaks.ts";
import { http, modern } from "../rpc.ts";
import { openStream, type OpenStream } from "../streams.ts";
import { Browser, type Page } from "./browser.ts";
import type { Front } from "./front.ts";
import type { Issuer } from "./issuer.ts";

// eslint-disable-next-line typescript/no-explicit-any -- tests look into answers of any form
type Json = any;

export interface ApiAnswer {
  readonly status: number;
  readonly json: Json;
}

export interface StartedLogin {
  readonly id: string;
  readonly url: string;
  readonly redirect_uri: string;
  readonly user_code?: string;
  readonly verification_uri_complete?: string;
}

export interface EndedLogin {
  readonly state: "completed" | "failed";
  readonly error?: { readonly kind: string; readonly message: string; readonly detail?: string };
}

type Call = ReturnType<typeof toAnswer>;

/** Whether an address is the hub's callback, where a browser ends up after the login. */
export const isCallback = ({ pathname }: URL) => pathname === "/oauth/callback";

export class OAuthHub {
  readonly home: Home;
  readonly outputs = new Outputs();
  readonly #options: StartOptions;
  #running: RunningHub;
  #events: OpenStream;
  #token: string;

  private constructor(running: RunningHub, token: string, events: OpenStream, options: StartOptions) {
    this.home = running.home;
    this.#running = running;
    this.#token = token;
    this.#events = events;
    this.#options = options;
  }

  /** `home`: of a hub that is running already; it is left alone at the end. */
  static async open({ home, ...options }: StartOptions & { readonly home?: Home } = {}): Promise<OAuthHub> {
    const given = home ?? (await makeHome({}));
    return new OAuthHub(...(await OAuthHub.#start(given, options)), options);
  }

  static async #start(home: Home, options: StartOptions): Promise<[RunningHub, string, OpenStream]> {
    const running = await startHub(home, options);
    const token = await tokenOf(home);
    const events = await openStream(`${running.url}/api/v1/events`, { headers: { authorization: `Bearer ${token}` } });
    return [running, token, events];
  }

  get url(): string {
    return this.#running.url;
  }

  get running(): RunningHub {
    return this.#running;
  }

  /** The events so far. */
  get events(): readonly Json[] {
    return this.#events.messages.all;
  }

  async api(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const headers = { authorization: `Bearer ${this.#token}`, "content-type": "application/json" };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await http(`${this.url}/api/v1${path}`, { method, headers, ...text });
    this.outputs.add(`${method} ${path}`, JSON.stringify(answer.headers), answer.body);
    return { status: answer.status, json: answer.body === "" ? undefined : JSON.parse(answer.body) };
  }

  /** Adds a server; it is tried to connect before this resolves. */
  async add(name: string, entry: Readonly<Record<string, unknown>>): Promise<void> {
    const { status, json } = await this.api("POST", "/servers", { name, enabled: true, ...entry });
    if (status !== 201) throw new Error(`The server was not added: ${JSON.stringify(json)}`);
    await this.untilState(name, "running", "error", "disconnected", "unauthenticated");
  }

  async remove(name: string): Promise<void> {
    await this.api("DELETE", `/servers/${name}`);
  }

  async server(name: string): Promise<Json> {
    return (await this.api("GET", `/servers/${name}`)).json;
  }

  async untilState(name: string, ...states: readonly string[]): Promise<void> {
    while (!states.includes((await this.server(name)).status)) await delay(20);
  }

  /** Begins a login; fails if the hub refuses. */
  async begin(name: string, options: object = {}): Promise<StartedLogin> {
    const { status, json } = await this.api("POST", `/servers/${name}/login`, options);
    if (status >= 300) throw new Error(`No login was begun: ${JSON.stringify(json)}`);
    return json;
  }

  /** Begins a login, does what the person does, and waits for its end. */
  async logIn(name: string, { approve }: Pick<Issuer, "approve">, options: object = {}): Promise<EndedLogin> {
    const { id, url } = await this.begin(name, options);
    this.addPages(await this.#visit((browser) => approve(browser, url)));
    return this.ended(id);
  }

  async ended(id: string): Promise<EndedLogin> {
    for (;;) {
      const { json } = await this.api("GET", `/logins/${id}`);
      if (json.state !== "pending") return json;
      await delay(20);
    }
  }

  async #visit(visit: (browser: Browser) => Promise<Page>): Promise<readonly Page[]> {
    const browser = new Browser();
    await visit(browser);
    return browser.pages.filter(({ url }) => new URL(url).port === new URL(this.url).port);
  }

  /** Opens an address of the hub in a browser. */
  async visit(url: string): Promise<Page> {
    const pages = await this.#visit((browser) => browser.open(url));
    this.addPages(pages);
    return pages[pages.length - 1] ?? { url, status: 0, headers: new Headers(), text: "" };
  }

  addPages(pages: readonly Page[]): void {
    for (const { url, headers, text } of pages) {
      this.outputs.add(`page ${new URL(url).pathname}`, JSON.stringify([...headers]), text);
    }
  }

  /** Calls a tool as a client of the current revision does. */
  async call(name: string, tool: string, args: object = {}, headers: Record<string, string> = {}): Promise<Call> {
    const params = { name: `${name}:${tool}`, arguments: args };
    const { body } = await modern(`${this.url}/mcp`, "tools/call", params, headers);
    this.outputs.add(`call ${tool}`, body);
    return toAnswer(body);
  }

  async command(...args: readonly string[]): Promise<Finished> {
    const finished = await plugboard(this.home, args);
    this.outputs.add(`plugboard ${args.join(" ")}`, finished.stdout, finished.stderr);
    return finished;
  }

  /** Stops the hub, or kills it, and starts it again with its data. */
  async restart(how: "stop" | "kill" = "stop"): Promise<void> {
    await this.#leave(how);
    [this.#running, this.#token, this.#events] = await OAuthHub.#start(this.home, this.#options);
  }

  async #leave(how: "stop" | "kill"): Promise<void> {
    this.outputs.add("events", JSON.stringify(this.events));
    this.#events.close();
    await this.#running[how]();
    this.outputs.add("stdout", this.#running.stdout());
    this.outputs.add("stderr", this.#running.stderr());
  }

  /** The hub is alive, and no credential that passed the authorization servers is in anything that it said or stored. */
  async check(...fronts: readonly Front[]): Promise<void> {
    expect((await this.api("GET", "/status")).json).toMatchObject({ pid: this.#running.process.pid });
    await this.outputs.addFiles(this.home.dir, "on disk", /^$/);
    this.outputs.add("events", JSON.stringify(this.events));
    this.outputs.add("stdout", this.#running.stdout());
    this.outputs.add("stderr", this.#running.stderr());
    expect(this.#running.stderr()).not.toMatch(/unhandled|uncaught/i);
    expect(this.outputs.hits(credentialsIn(fronts))).toEqual([]);
  }

  async close(): Promise<void> {
    await this.#leave("stop");
    await this.home.remove();
  }
}

/** Members of requests to an authorization server, and of its answers, that must not come out anywhere. */
const SENT = ["code", "code_verifier", "refresh_token", "client_secret", "client_assertion", "device_code", "token"];
const ANSWERED = ["access_token", "refresh_token", "id_token", "client_secret", "registration_access_token"];

/** Every credential that passed the authorization servers, by where it was seen. */
export function credentialsIn(fronts: readonly Front[]): Record<string, string> {
  const found = new Map<string, string>();
  for (const [index, { endpoint, form, answer }] of fronts.flatMap(({ passed }) => passed).entries()) {
    const where = `${endpoint} ${index}`;
    for (const name of SENT) found.set(form.get(name) ?? "", `${name} sent to ${where}`);
    if (answer === undefined || !answer.body.startsWith("{")) continue;
    const body = JSON.parse(answer.body) as Partial<Record<string, string>>;
    for (const name of ANSWERED) found.set(body[name] ?? "", `${name} of ${where}`);
  }
  found.delete("");
  return Object.fromEntries([...found].map(([value, name]) => [name, value]));
}
