// One request to a server, tried as often as it may be: the breaker, then attempts with pauses, all within one deadline.

import { HubError, toHubError } from "../errors.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { Ask } from "../servers/upstream.ts";
import type { Cancellation } from "../wire/cancellation.ts";
import type { Reply } from "../wire/jsonrpc.ts";
import { countsAgainst, deadlineMs, mayHaveRun, NEVER, retryDelay, type Repeat } from "./retry.ts";

export interface Attempts {
  readonly repeat: Repeat;
  readonly onRetry?: (error: HubError) => void;
  /** In place of the server's own `ask`: each attempt has a span of its own. */
  readonly send?: (server: ManagedServer, ask: Ask) => Promise<Reply>;
}

/** The server's answer, its errors included; rejects with the hub's own failure, which then counts against the server. */
export async function attempt(
  find: () => ManagedServer,
  ask: Ask,
  { repeat, onRetry, send }: Attempts,
): Promise<Reply> {
  // Found anew for each attempt: the server may have been replaced meanwhile.
  let server = find();
  server.circuit.admit();
  const startedAt = performance.now();
  const isGiven = ask.timeoutMs !== undefined;
  const leftMs = () => deadlineMs(server.requestMs(ask), repeat, { isGiven }) - (performance.now() - startedAt);
  let first: HubError | undefined;
  let isAmbiguous = false;
  for (let tries = 0; ; tries++) {
    try {
      const tried = tries === 0 ? ask : { ...ask, timeoutMs: Math.max(1, Math.min(server.requestMs(ask), leftMs())) };
      const reply = await (send === undefined ? server.ask(tried) : send(server, tried));
      server.circuit.succeeded();
      return reply;
    } catch (thrown) {
      const error = toHubError(thrown);
      // Who was asked something must not be asked it again without knowing why.
      const allowed = ask.respondent?.wasAsked === true ? NEVER : repeat;
      isAmbiguous ||= mayHaveRun(error);
      const delayMs = retryDelay({ error, tries, repeat: allowed, leftMs: leftMs() });
      if (delayMs === undefined || ask.signal?.aborted === true) {
        if (countsAgainst(error)) server.circuit.failed();
        // That it is down by now says less than why.
        const isDown = error.kind === "ServerNotRunning" || error.kind === "ServerStarting";
        const reason = isDown ? (first ?? error) : error;
        throw isAmbiguous && ask.method === "tools/call" ? ambiguous(reason) : reason;
      }
      first ??= error;
      onRetry?.(error);
      await pause(server, delayMs, ask.signal);
      server = find();
    }
  }
}

/** Waits; not longer than until a server that is down is back, or the caller has gone. */
function pause(server: ManagedServer, delayMs: number, signal: Cancellation | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      forget();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    const forget = server.onceRunning(done);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** Whoever called must know that calling again may do it twice. */
function ambiguous(error: HubError): HubError {
  const { kind, message, detail } = error;
  return new HubError(kind, `${message}. The outcome is unknown: the call may have run`, {
    ...(detail === undefined ? {} : { detail }),
    hint: "Check whether it took effect before you call again",
    delivery: "unknown",
    cause: error,
  });
}
