// Progress of a request that starts a server: a client that accepts an event stream gets the stages of the start and the lines of
// the server's log, then the same answer as others.

import type { ServerResponse } from "node:http";
import { namedSseEvent, SSE_KEEP_ALIVE } from "@plugboard/shared/streams/sse";
import { toProblem } from "../../http/problem.ts";
import { requestIdOf } from "../../http/request-id.ts";
import type { HubEvents } from "../../events.ts";
import type { Stage, Status } from "../../servers/status.ts";
import type { LogEvent, StageEvent } from "../schemas/progress.ts";
import { SENT, type Call } from "./route.ts";

const EVENT_STREAM = "text/event-stream";
const KEEP_ALIVE_MS = 15_000;
/** Log lines are left out while a client has more unread bytes. */
const MAX_UNREAD_BYTES = 1 << 20;

const HEADERS = {
  "content-type": EVENT_STREAM,
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

export interface Progress {
  onStatus(status: Status): void;
  onLog(text: string): void;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

type Streamed = Pick<Call<unknown, unknown, unknown>, "header" | "response" | "signal">;

/** Runs a command, with its progress if the client accepts an event stream. */
export async function withProgress<T>(
  call: Streamed,
  run: (progress: Progress | undefined) => Promise<T>,
): Promise<T | typeof SENT> {
  const accepts = call.header("accept")?.toLowerCase().includes(EVENT_STREAM) ?? false;
  if (!accepts) return run(undefined);
  const stream = new ProgressStream(call);
  try {
    stream.end("result", await run(stream));
  } catch (thrown) {
    // Before the first event, the answer is an ordinary problem.
    if (!stream.isOpen) throw thrown;
    stream.end("problem", toProblem(thrown, requestIdOf(call.response)).problem);
  } finally {
    stream.close();
  }
  return SENT;
}

/** The events of a server, as long as a command on it runs. */
export async function following<T>(
  events: HubEvents,
  server: string,
  progress: Progress | undefined,
  run: () => Promise<T>,
): Promise<T> {
  if (progress === undefined) return run();
  const onStatus = (event: { readonly server: string; readonly status: Status }) =>
    event.server === server && progress.onStatus(event.status);
  const onLog = (line: { readonly server: string; readonly text: string }) =>
    line.server === server && progress.onLog(line.text);
  events.on("server.status", onStatus).on("server.log", onLog);
  try {
    return await run();
  } finally {
    events.off("server.status", onStatus).off("server.log", onLog);
  }
}

class ProgressStream implements Progress {
  readonly #response: ServerResponse;
  readonly #startedAt = performance.now();
  readonly #cancelled = new AbortController();
  readonly #onClose = () => this.#cancelled.abort();
  readonly #keepAlive: NodeJS.Timeout;
  #stage: Stage | undefined;
  #isOpen = false;

  constructor({ response }: Streamed) {
    this.#response = response;
    response.once("close", this.#onClose);
    this.#keepAlive = setInterval(() => this.#isOpen && this.#write(SSE_KEEP_ALIVE), KEEP_ALIVE_MS).unref();
  }

  get signal(): AbortSignal {
    return this.#cancelled.signal;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  onStatus(status: Status): void {
    if (status.state !== "starting" || status.stage === this.#stage) return;
    this.#stage = status.stage;
    const elapsed_ms = Math.round(performance.now() - this.#startedAt);
    this.#send("stage", { stage: status.stage, elapsed_ms } satisfies StageEvent);
  }

  onLog(text: string): void {
    if (this.#response.writableLength < MAX_UNREAD_BYTES) this.#send("log", { text } satisfies LogEvent);
  }

  end(event: "result" | "problem", data: unknown): void {
    this.#send(event, data);
    this.#response.off("close", this.#onClose);
    this.#response.end();
  }

  close(): void {
    clearInterval(this.#keepAlive);
    this.#response.off("close", this.#onClose);
  }

  #send(event: string, data: unknown): void {
    if (!this.#isOpen && !this.#response.destroyed) this.#response.writeHead(200, HEADERS);
    this.#isOpen = true;
    this.#write(namedSseEvent(event, JSON.stringify(data)));
  }

  #write(text: string): void {
    if (!this.#response.destroyed && !this.#response.writableEnded) this.#response.write(text);
  }
}
