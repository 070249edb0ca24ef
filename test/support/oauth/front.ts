// A reverse proxy in front of a real authorization server. It records and counts what passes, and can fail, delay, lose or
// change it. It works for every implementation: each says which of its paths is which endpoint.

import { once } from "node:events";
import {
  Agent,
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";

export type Endpoint =
  | "metadata"
  | "authorize"
  | "token"
  | "register"
  | "revoke"
  | "device"
  | "par"
  | "jwks"
  | "userinfo"
  | "logout"
  | "other";

/** Which endpoint a path belongs to. The first match counts. */
export type Routes = readonly (readonly [path: RegExp, endpoint: Endpoint])[];

/** One request and, unless it was lost, what the authorization server answered. */
export interface Passed {
  readonly endpoint: Endpoint;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as a form. */
  readonly form: URLSearchParams;
  answer?: Answer;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Fault =
  /** The authorization server does not see the request. */
  | {
      readonly do: "answer";
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** An error whose text repeats all that was sent. */
  | { readonly do: "echo"; readonly status: number; readonly error: string }
  /** The connection is reset; the authorization server does not see the request. */
  | { readonly do: "reset" }
  /** The authorization server does its work, and the connection is reset instead of its answer. */
  | { readonly do: "lose" }
  /** No answer, ever; the authorization server does not see the request. */
  | { readonly do: "hang" };

/** Holds requests to an endpoint before or after the authorization server has worked on them. */
export interface Hold {
  /** Resolves when the first request is held. */
  readonly reached: Promise<Passed>;
  /** Lets everything pass again. */
  release(): void;
}

/** Faults that every client meets at a token endpoint; none of them says anything about the login. */
export const TRANSIENT = {
  "503": {
    do: "answer",
    status: 503,
    body: "<html>Service Unavailable</html>",
    headers: { "content-type": "text/html" },
  },
  "HTML with status 200": {
    do: "answer",
    status: 200,
    body: "<html>Maintenance</html>",
    headers: { "content-type": "text/html" },
  },
  "a reset connection": { do: "reset" },
  "no answer": { do: "hang" },
  "429 with Retry-After": { do: "answer", status: 429, headers: { "retry-after": "1" } },
} as const satisfies Readonly<Record<string, Fault>>;

/** GitHub answers errors with status 200. */
export const githubError = (code: string): Fault => ({
  do: "answer",
  status: 200,
  body: JSON.stringify({ error: code, error_description: "The refresh token passed is incorrect or expired." }),
  headers: { "content-type": "application/json" },
});

type Change = (document: Record<string, unknown>) => unknown;

export class Front {
  readonly passed: Passed[] = [];
  readonly #server = createServer((incoming, response) => void this.#handle(incoming, response));
  readonly #agent = new Agent({ keepAlive: true });
  readonly #routes: Routes;
  readonly #faults = new Map<Endpoint, { fault: Fault; left: number }>();
  readonly #changes = new Map<Endpoint, Change>();
  readonly #holds = new Map<string, (passed: Passed) => Promise<void>>();
  #target = 0;

  private constructor(routes: Routes) {
    this.#routes = routes;
  }

  /** Listens first, since the authorization server behind it has to know its address; `serve` names its port afterwards. */
  static async open(routes: Routes): Promise<Front> {
    const front = new Front(routes);
    front.#server.listen(0, "127.0.0.1");
    await once(front.#server, "listening");
    return front;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  serve(port: number): void {
    this.#target = port;
  }

  /** The requests to an endpoint so far. */
  of(endpoint: Endpoint): Passed[] {
    return this.passed.filter((each) => each.endpoint === endpoint);
  }

  /** Requests to the token endpoint with a grant type. */
  grants(type: string): Passed[] {
    return this.of("token").filter(({ form }) => form.get("grant_type") === type);
  }

  get refreshes(): Passed[] {
    return this.grants("refresh_token");
  }

  fail(endpoint: Endpoint, fault: Fault, times = Infinity): void {
    this.#faults.set(endpoint, { fault, left: times });
  }

  heal(): void {
    this.#faults.clear();
    this.#changes.clear();
  }

  /** Changes the JSON documents that an endpoint answers with. */
  change(endpoint: Endpoint, change: Change): void {
    this.#changes.set(endpoint, change);
  }

  hold(endpoint: Endpoint, when: "before" | "after"): Hold {
    let onReached: (passed: Passed) => void = () => undefined;
    const reached = new Promise<Passed>((resolve) => (onReached = resolve));
    let onRelease: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (onRelease = resolve));
    const key = `${when} ${endpoint}`;
    this.#holds.set(key, (passed) => {
      onReached(passed);
      return released;
    });
    return {
      reached,
      release: () => {
        this.#holds.delete(key);
        onRelease();
      },
    };
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(incoming);
    const { pathname, searchParams } = new URL(incoming.url ?? "/", this.url);
    const passed: Passed = {
      endpoint: this.#routes.find(([path]) => path.test(pathname))?.[1] ?? "other",
      method: incoming.method ?? "",
      path: pathname,
      query: searchParams,
      headers: incoming.headers,
      body: body.toString(),
      form: new URLSearchParams(body.toString()),
    };
    this.passed.push(passed);
    const { endpoint } = passed;
    if (endpoint === "other") return this.#carry(incoming, body, response);
    await this.#holds.get(`before ${endpoint}`)?.(passed);
    // Whoever asked was killed meanwhile.
    if (incoming.socket.destroyed) return;
    const fault = this.#takeFault(endpoint);
    if (fault?.do === "hang") return;
    if (fault?.do === "reset") return void incoming.socket.resetAndDestroy();
    if (fault?.do === "echo") {
      const text = JSON.stringify({ error: fault.error, error_description: `Not accepted: ${passed.body}` });
      passed.answer = { status: fault.status, headers: { "content-type": "application/json" }, body: text };
    } else if (fault?.do === "answer") {
      passed.answer = { status: fault.status, headers: fault.headers ?? {}, body: fault.body ?? "" };
    } else {
      passed.answer = this.#changed(endpoint, await this.#ask(incoming, body));
      await this.#holds.get(`after ${endpoint}`)?.(passed);
      if (fault?.do === "lose") return void incoming.socket.resetAndDestroy();
    }
    const { status, headers, body: text } = passed.answer;
    response.writeHead(status, { ...headers, "content-length": String(Buffer.byteLength(text)) }).end(text);
  }

  #takeFault(endpoint: Endpoint): Fault | undefined {
    const entry = this.#faults.get(endpoint);
    if (entry === undefined || entry.left === 0) return undefined;
    entry.left--;
    return entry.fault;
  }

  #changed(endpoint: Endpoint, answer: Answer): Answer {
    const change = this.#changes.get(endpoint);
    if (change === undefined || answer.status >= 300) return answer;
    return { ...answer, body: JSON.stringify(change(JSON.parse(answer.body))) };
  }

  /** Answers of other paths may be streams without end. */
  async #carry(incoming: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const reply = await this.#send(incoming, body);
    response.writeHead(reply.statusCode ?? 0, reply.headers).flushHeaders();
    await pipeline(reply, response).catch(() => undefined);
  }

  async #ask(incoming: IncomingMessage, body: Buffer): Promise<Answer> {
    const reply = await this.#send(incoming, body);
    const text = (await bodyOf(reply)).toString();
    const { "transfer-encoding": _, ...rest } = reply.headers;
    return { status: reply.statusCode ?? 0, headers: rest, body: text };
  }

  /** Passes a request on with its Host, so that the authorization server sees its public address. */
  async #send(incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const { method, url, headers } = incoming;
    const outgoing = request({ host: "127.0.0.1", port: this.#target, method, path: url, headers, agent: this.#agent });
    outgoing.end(body);
    const [reply] = (await once(outgoing, "response")) as [IncomingMessage];
    return reply;
  }
}

export async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
