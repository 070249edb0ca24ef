// The loop of every live source: connect, stay, come back after a failure, later each time. What a connection is, and what
// comes over it, the source knows.

import { STOPPED, type SourceContext, type SourceEvent, type SourceState } from "../source.ts";
import { asFailure, codeOf, SourceFailure } from "./failure.ts";
import { backoffMs, LONGEST_MS, type Timing } from "./timing.ts";

/** After so long a connection, what was before is forgotten. */
const STEADY_MS = 60_000;

export interface Connection {
  /** Connects, tells when it is done, and reads until the connection ends: by a failure, or by the signal. */
  readonly attempt: (connected: () => void) => Promise<void>;
  readonly howToConnect: (failure: SourceFailure) => string;
  readonly timing: Timing;
}

export async function stayConnected(
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
    if (connectedAt !== undefined && context.now() - connectedAt >= STEADY_MS) failures = 0;
    failures++;
    context.onState(stateAfter(failure, howToConnect(failure)));
    await timing.pause(delayMs(failure, failures, timing.chance()), signal);
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
  // Rejected credentials do not get better by asking often; they are asked for anew each time, so a new token is found.
  const ownMs = kind === "unauthorized" ? LONGEST_MS : backoffMs(failures, chance);
  return Math.max(ownMs, retryAfterMs);
}

/** Hands over a batch. A store that cannot take it ends the connection, and what was not acknowledged comes again. */
export async function commit(context: SourceContext, batch: readonly SourceEvent[]): Promise<void> {
  if (batch.length === 0) return;
  try {
    await context.sink(batch);
  } catch (error) {
    throw new SourceFailure("not_stored", `Messages could not be stored (${codeOf(error)})`);
  }
}

/** For a network that sends everything once: the batch is kept and offered until it is taken, and nothing is read meanwhile. */
export async function commitAtLast(
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
      context.onState(stateAfter(asFailure(error), "Make room for the database; it is tried again by itself."));
      await timing.pause(backoffMs(failures, timing.chance()), context.signal);
    }
  }
}
