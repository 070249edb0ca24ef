// Interactive calls: the page as an MCP client of a server or a group, and what happens during each call.

import { api } from "../lib/hub/api.ts";
import { isObject, type Json, type JsonObject } from "../lib/text/json.ts";
import { McpClient, type Progress, type Traffic } from "../lib/mcp/client.ts";
import { McpError, type Answer, type RequestId, type ServerRequest } from "../lib/mcp/messages.ts";

const MAX_NOTES = 500;
const MAX_TRAFFIC = 2000;

/** Who answers: one server under its own names, or a group as its clients see it. */
export type Endpoint = { readonly server: string } | { readonly group: string };

export interface Note {
  readonly at: number;
  readonly kind: "progress" | "log" | "question" | "answer";
  readonly level?: string | undefined;
  readonly text: string;
}

export type Outcome =
  | { readonly kind: "running" }
  | { readonly kind: "answered"; readonly answer: Answer; readonly ms: number }
  | { readonly kind: "failed"; readonly error: unknown; readonly ms: number }
  | { readonly kind: "cancelled"; readonly by: "person" | "time limit"; readonly ms: number };

/** A request of the server that waits for the person. */
export interface Question {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  readonly askedAt: number;
  /** The page it refers to says that it is done. */
  readonly isComplete: boolean;
  readonly answer: (result: JsonObject) => void;
  readonly refuse: (error: McpError) => void;
}

/** One call, from Run to its answer. */
export class TryCall {
  readonly arguments: JsonObject;
  readonly startedAt = Date.now();
  outcome: Outcome = $state.raw({ kind: "running" });
  progress: Progress | undefined = $state.raw();
  notes: readonly Note[] = $state.raw([]);
  questions: readonly Question[] = $state.raw([]);
  traffic: readonly Traffic[] = $state.raw([]);
  readonly #abort = new AbortController();
  #limit: { leftMs: number; since: number; timer: ReturnType<typeof setTimeout> } | undefined;

  constructor(args: JsonObject, limitMs: number) {
    this.arguments = args;
    if (limitMs > 0) this.#startLimit(limitMs);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  cancel(by: "person" | "time limit" = "person"): void {
    if (this.outcome.kind !== "running") return;
    this.#abort.abort();
    this.end({ kind: "cancelled", by, ms: Date.now() - this.startedAt });
  }

  end(outcome: Outcome): void {
    if (this.outcome.kind !== "running") return;
    this.outcome = outcome;
    this.questions = [];
    clearTimeout(this.#limit?.timer);
  }

  note(note: Omit<Note, "at">): void {
    this.notes = [...this.notes, { at: Date.now(), ...note }].slice(-MAX_NOTES);
  }

  record(traffic: Traffic): void {
    this.traffic = [...this.traffic, traffic].slice(-MAX_TRAFFIC);
  }

  /** Waits for the person. The time limit stands still meanwhile. */
  ask({ id, method, params, signal }: ServerRequest): Promise<JsonObject> {
    this.#pauseLimit();
    this.note({ kind: "question", text: method });
    return new Promise<JsonObject>((resolve, reject) => {
      const close = () => {
        this.questions = this.questions.filter((question) => question.id !== id);
        if (this.questions.length === 0) this.#resumeLimit();
      };
      const question: Question = {
        id,
        method,
        params,
        askedAt: Date.now(),
        isComplete: false,
        answer: (result) => (close(), resolve(result)),
        refuse: (error) => (close(), reject(error)),
      };
      this.questions = [...this.questions, question];
      signal.addEventListener("abort", () => question.refuse(new McpError(-1, "The request was taken back")), {
        once: true,
      });
    });
  }

  /** The page of a question in the browser is done. */
  complete(elicitationId: Json | undefined): void {
    this.questions = this.questions.map((question) =>
      question.params["elicitationId"] === elicitationId ? { ...question, isComplete: true } : question,
    );
  }

  #startLimit(ms: number): void {
    this.#limit = { leftMs: ms, since: Date.now(), timer: setTimeout(() => this.cancel("time limit"), ms) };
  }

  #pauseLimit(): void {
    if (this.#limit === undefined || this.questions.length > 0) return;
    clearTimeout(this.#limit.timer);
    this.#limit.leftMs -= Date.now() - this.#limit.since;
  }

  #resumeLimit(): void {
    if (this.#limit !== undefined && this.outcome.kind === "running")
      this.#startLimit(Math.max(1000, this.#limit.leftMs));
  }
}

/** A connection to one endpoint, for as long as a screen needs it. */
export class McpConnection {
  readonly client: McpClient;
  /** Folders that the person gives to servers that ask for roots. */
  roots: readonly string[] = $state.raw([]);
  readonly #calls = new Map<RequestId, TryCall>();
  readonly #listeners = new Set<(method: string, params: JsonObject) => void>();

  constructor(endpoint: Endpoint) {
    const path =
      "server" in endpoint
        ? `/servers/${encodeURIComponent(endpoint.server)}/mcp`
        : `/groups/${encodeURIComponent(endpoint.group)}/mcp`;
    this.client = new McpClient({
      url: api.url(path),
      fetch: (input, init) => api.fetch(input, init),
      clientInfo: { name: "plugboard-ui", version: "1" },
      capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } },
      onRequest: (request, call) => this.#answer(request, call),
      onNotification: (method, params, call) => this.#notice(method, params, call),
      onTraffic: (traffic) => this.#callOf(traffic.call)?.record(traffic),
    });
    addEventListener("pagehide", this.close);
  }

  /** Runs a tool. The call tells everything about itself. */
  call(name: string, args: JsonObject, limitMs: number): TryCall {
    const call = new TryCall(args, limitMs);
    this.#run(call, name).catch((error: unknown) =>
      call.end({ kind: "failed", error, ms: Date.now() - call.startedAt }),
    );
    return call;
  }

  onNotification(listener: (method: string, params: JsonObject) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async setRoots(roots: readonly string[]): Promise<void> {
    this.roots = roots;
    await this.client.notify("notifications/roots/list_changed", {}).catch(() => undefined);
  }

  /** Cancels what runs and ends the session: an open question would stand in the way of the next one. */
  readonly close = (): void => {
    removeEventListener("pagehide", this.close);
    for (const call of this.#calls.values()) call.cancel();
    this.client.close();
  };

  async #run(call: TryCall, name: string): Promise<void> {
    let id: RequestId | undefined;
    try {
      const answer = await this.client.request(
        "tools/call",
        { name, arguments: call.arguments },
        {
          signal: call.signal,
          onId: (given) => {
            id = given;
            this.#calls.set(given, call);
          },
          onProgress: (progress) => {
            call.progress = progress;
            call.note({ kind: "progress", text: progressText(progress) });
          },
        },
      );
      call.end({ kind: "answered", answer, ms: Date.now() - call.startedAt });
    } finally {
      if (id !== undefined) this.#calls.delete(id);
    }
  }

  /** A question names no call if it does not come on its stream: then it belongs to the newest one. */
  #callOf(id: RequestId | undefined): TryCall | undefined {
    if (id !== undefined) return this.#calls.get(id);
    return [...this.#calls.values()].findLast((call) => call.outcome.kind === "running");
  }

  async #answer(request: ServerRequest, id: RequestId | undefined): Promise<JsonObject> {
    const call = this.#callOf(id);
    if (request.method === "roots/list") {
      call?.note({ kind: "question", text: `roots/list: ${this.roots.length}` });
      return { roots: this.roots.map((path) => ({ uri: toFileUri(path) })) };
    }
    const isKnown = request.method === "elicitation/create" || request.method === "sampling/createMessage";
    if (!isKnown || call === undefined) throw new McpError(-32601, `${request.method} is not supported`);
    return await call.ask(request);
  }

  #notice(method: string, params: JsonObject, id: RequestId | undefined): void {
    const call = this.#callOf(id);
    if (method === "notifications/message") {
      const { level, data, logger } = params;
      const text = typeof data === "string" ? data : JSON.stringify(data);
      call?.note({
        kind: "log",
        level: typeof level === "string" ? level : "info",
        text: typeof logger === "string" ? `${logger}: ${text}` : text,
      });
    } else if (method === "notifications/elicitation/complete") {
      call?.complete(params["elicitationId"]);
    }
    for (const listener of this.#listeners) listener(method, params);
  }
}

function progressText({ progress, total, message }: Progress): string {
  const amount = total === undefined ? String(progress) : `${progress} of ${total}`;
  return message === undefined ? amount : `${amount} ${message}`;
}

/** @example toFileUri("/home/ann") === "file:///home/ann" */
function toFileUri(path: string): string {
  if (path.startsWith("file://")) return path;
  const slashes = path.replaceAll("\\", "/");
  return new URL(`file://${slashes.startsWith("/") ? "" : "/"}${slashes}`).href;
}

/** Whether the tool itself says that it failed. */
export function isToolError(answer: Answer): boolean {
  return answer.kind === "result" && answer.result["isError"] === true;
}

/** The blocks of a result. */
export function contentOf(answer: Answer): readonly JsonObject[] {
  const content = answer.kind === "result" ? answer.result["content"] : undefined;
  return Array.isArray(content) ? content.filter((block) => isObject(block)) : [];
}

/** The last answers of each tool, and what the person has agreed to, while the page is open. */
class Tries {
  #calls: ReadonlyMap<string, readonly TryCall[]> = $state.raw(new Map());
  readonly #confirmed = new Set<string>();

  /** Destructive tools that are run without a question. */
  isConfirmed(server: string, tool: string): boolean {
    return this.#confirmed.has(`${server}:${tool}`);
  }

  confirm(server: string, tool: string): void {
    this.#confirmed.add(`${server}:${tool}`);
  }

  of(server: string, tool: string): readonly TryCall[] {
    return this.#calls.get(`${server}:${tool}`) ?? [];
  }

  /** Newest first, at most twenty. */
  add(server: string, tool: string, call: TryCall): void {
    const key = `${server}:${tool}`;
    this.#calls = new Map(this.#calls).set(key, [call, ...this.of(server, tool)].slice(0, MAX_KEPT));
  }
}

const MAX_KEPT = 20;

export const tries = new Tries();
