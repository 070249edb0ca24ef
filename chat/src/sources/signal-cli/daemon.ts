// Client of a signal-cli daemon: JSON-RPC over HTTP and a stream of events. The daemon has no authentication, so it should
// listen on loopback only.

import { isIP } from "node:net";
import { sseEvents, SseOverflow, type SseEvent } from "@plugboard/shared/streams/sse";
import { trimEnd } from "@plugboard/shared/trim";
import type { z } from "zod";
import { SourceFailure, type FailureKind } from "../failure.ts";
import { openStream, requestJson, toFailure, type Deadline } from "../http.ts";
import { wire } from "./wire.ts";

const CALL_MS = 60_000;
const MAX_EVENT_BYTES = 16 << 20;

/** An error response of the daemon; `code` is JSON-RPC's or signal-cli's own. */
export class SignalCliRefusal extends SourceFailure {
  readonly code: number;

  constructor(code: number, message: string) {
    super(code === RATE_LIMIT ? "rate_limited" : "refused", message);
    this.code = code;
  }
}

export const NO_SUCH_METHOD = -32_601;
export const UNTRUSTED_KEY = -4;
export const IO_ERROR = -3;
const RATE_LIMIT = -5;

export class Daemon {
  readonly #root: string;

  constructor(url: string) {
    this.#root = trimEnd(url, "/");
  }

  get isLoopback(): boolean {
    const host = new URL(this.#root).hostname.replace(/^\[|\]$/g, "");
    return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
  }

  async check(signal: AbortSignal): Promise<void> {
    const { status } = await requestJson(`${this.#root}/api/v1/check`, { timeoutMs: CALL_MS, signal });
    if (status !== 200) throw statusFailure(status);
  }

  async call<T extends z.ZodType>(
    method: string,
    params: Readonly<Record<string, unknown>>,
    { result, signal }: { result: T; signal: AbortSignal },
  ): Promise<z.infer<T>> {
    const request = { jsonrpc: "2.0", id: "1", method, params };
    const url = `${this.#root}/api/v1/rpc`;
    const { status, body } = await requestJson(url, { method: "POST", body: request, timeoutMs: CALL_MS, signal });
    const answer = wire.rpcAnswer.safeParse(body);
    if (!answer.success) throw statusFailure(status);
    if ("error" in answer.data) {
      const { code, message } = answer.data.error;
      throw new SignalCliRefusal(code, `signal-cli refused ${method}: ${message}`);
    }
    const parsed = result.safeParse(answer.data.result);
    if (!parsed.success) throw new SourceFailure("refused", `signal-cli answered ${method} in an unknown format`);
    return parsed.data;
  }

  /** Resolves when the stream is open. Newer daemons send event ids, and resume after the given one. */
  async events(
    { account, after }: { account: string | undefined; after: string },
    deadline: Deadline,
  ): Promise<AsyncGenerator<readonly SseEvent[]>> {
    const query = account === undefined ? "" : `?account=${encodeURIComponent(account)}`;
    const url = `${this.#root}/api/v1/events${query}`;
    const response = await openStream(url, { accept: "text/event-stream", "last-event-id": after }, deadline);
    if (response.statusCode !== 200) throw statusFailure(response.statusCode ?? 0);
    return read(response, deadline, url);
  }
}

async function* read(
  body: AsyncIterable<Uint8Array>,
  deadline: Deadline,
  url: string,
): AsyncGenerator<readonly SseEvent[]> {
  try {
    for await (const events of sseEvents(body, { maxBytes: MAX_EVENT_BYTES })) {
      deadline.extend();
      if (events.length > 0) yield events;
    }
  } catch (error) {
    if (error instanceof SseOverflow) throw new SourceFailure("refused", error.message);
    throw toFailure(error, deadline, url);
  }
}

function statusFailure(status: number): SourceFailure {
  const kinds: Readonly<Record<number, FailureKind>> = {
    400: "unauthorized",
    401: "unauthorized",
    403: "unauthorized",
  };
  return new SourceFailure(kinds[status] ?? "unreachable", `signal-cli answered with HTTP status ${status}`);
}
