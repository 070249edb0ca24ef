// Reconnect loop of live sources with backoff, and commits to the store.

import { STOPPED, type SourceContext, type SourceEvent, type SourceState } from "../model/source.ts";
import { asFailure, codeOf, SourceFailure } from "./failure.ts";
import { backoffMs, MAX_DELAY_MS, type Timing } from "./backoff.ts";

/** A connection of this length resets the backoff. */
const STABLE_MS = 60_000;

export interface Connection {
  /** Connects, calls `connected`, and reads until the connection fails or the signal aborts. */
  readonly attempt: (connected: () => void) => Promise<void>;
  readonly howToConnect: (failure: SourceFailure) => string;
  readonly timing: Timing;
}

export async function runWithReconnect(
  context: SourceContext,
  { attempt, howToConnect, timing }: Connection,
): Promise<void> {
  const { signal } = context;
  let failures = 0;
  while (!signal.aborted) {
    let connectedAt: number | undefined;
    context.onState({ status: "connecting" });
    const failure = await failureOf(
      attempt(() => {
        connectedAt = context.now();
        context.onState({ status: "connected" });
      }),
    );
    if (signal.aborted) break;
    if (connectedAt !== undefined && context.now() - connectedAt >= STABLE_MS) failures = 0;
    failures++;
    context.onState(stateAfter(failure, howToConnect(failure)));
    await timing.pause(delayMs(failure, failures, timing.random()), signal);
  }
  context.onState(STOPPED);
}

async function failureOf(attempt: Promise<void>): Promise<SourceFailure> {
  try {
    await attempt;
    return new SourceFailure("unreachable", "The connection was closed");
  } catch (error) {
    return asFailure(error);
  }
}

function stateAfter({ kind, message }: SourceFailure, howToConnect: string): SourceState {
  if (kind === "unauthorized") return { status: "needs_auth", message, howToConnect };
  return { status: kind === "not_stored" ? "error" : "disconnected", message, howToConnect };
}

function delayMs({ kind, retryAfterMs = 0 }: SourceFailure, failures: number, chance: number): number {
  // Retry rejected credentials slowly. They are read again on each attempt, so a new token is picked up.
  const ownMs = kind === "unauthorized" ? MAX_DELAY_MS : backoffMs(failures, chance);
  return Math.max(ownMs, retryAfterMs);
}

/** Stores a batch. A failure ends the connection, and the network sends unacknowledged events again. */
export async function commit(context: SourceContext, batch: readonly SourceEvent[]): Promise<void> {
  if (batch.length === 0) return;
  try {
    await context.sink(batch);
  } catch (error) {
    throw new SourceFailure("not_stored", `Messages could not be stored (${codeOf(error)})`);
  }
}

/** For networks that send events once: retries until the batch is stored, and reads nothing until then. */
export async function commitWithRetry(
  context: SourceContext,
  batch: readonly SourceEvent[],
  timing: Timing,
): Promise<void> {
  for (let failures = 1; !context.signal.aborted; failures++) {
    try {
      await commit(context, batch);
      if (failures > 1) context.onState({ status: "connected" });
      return;
    } catch (error) {
      context.onState(
        stateAfter(asFailure(error), "Free disk space for the database. Storing is retried automatically."),
      );
      await timing.pause(backoffMs(failures, timing.random()), context.signal);
    }
  }
}
