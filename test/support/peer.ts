// A Peer with a channel in memory.

import { afterEach, beforeEach, expect, vi } from "vitest";
import { HubError } from "../../hub/src/errors.ts";
import type { NotificationMessage, Reply, RequestMessage } from "../../hub/src/protocol/rpc/jsonrpc.ts";
import { Peer, type OutgoingRequest } from "../../hub/src/protocol/connect/peer.ts";
import type { RequestOptions } from "../../hub/src/protocol/connect/pending-request.ts";

/** Uses a fake clock in every test of a file, and checks that no timer is left. */
export function useFakeClock(): void {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    expect(vi.getTimerCount(), "timers left running").toBe(0);
    vi.useRealTimers();
  });
}

export interface Sent {
  readonly message: Record<string, unknown>;
  readonly request: OutgoingRequest | undefined;
}

/** A peer and the messages of its transport. `abandoned`: closing a stream cancels. */
export function makePeer({
  onRequest,
  abandon,
}: { onRequest?: (m: RequestMessage) => Reply | undefined; abandon?: boolean } = {}) {
  const sent: Sent[] = [];
  const unowned: NotificationMessage[] = [];
  const abandoned: number[] = [];
  const peer = new Peer(
    {
      send: (bytes, request) => sent.push({ message: JSON.parse(bytes.toString()), request }),
      ...(abandon === undefined ? {} : { abandon: (id: number) => (abandoned.push(id), abandon) }),
    },
    { onNotification: (message) => unowned.push(message), onRequest: onRequest ?? (() => undefined) },
  );
  const ask = (method = "tools/call", options: Partial<RequestOptions> = {}) =>
    outcomeOf(peer.request(method, () => undefined, { timeoutMs: 1000, ...options }));
  const receive = (message: unknown, via?: number) => peer.receive(Buffer.from(JSON.stringify(message)), via);
  const answer = (id: unknown, result: unknown = {}) => receive({ jsonrpc: "2.0", id, result });
  const progress = (progressToken: unknown, via?: number) =>
    receive({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } }, via);
  return { peer, sent, unowned, abandoned, ask, receive, answer, progress };
}

/** A promise that never rejects: the result's bytes, or the error. */
export function outcomeOf(reply: Promise<Reply>): Promise<string> {
  return reply.then(
    (settled) => (settled.ok ? settled.result : settled.error).bytes.toString(),
    (error: unknown) => (error instanceof HubError ? `${error.kind}: ${error.message}` : String(error)),
  );
}

export const cancellations = (sent: readonly Sent[]) =>
  sent.filter(({ message }) => message["method"] === "notifications/cancelled").map(({ message }) => message["params"]);

/** The state of a promise, without waiting. */
export async function now(outcome: Promise<string>): Promise<string> {
  return Promise.race([outcome, vi.advanceTimersByTimeAsync(0).then(() => "open")]);
}
