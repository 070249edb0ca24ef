// The interface between the load generator and an MCP server. Each transport has its own file.

import type { Call } from "./message.ts";

/** One call at a time. */
export interface Lane {
  /** Sends the next request of the lane. The answer is a JSON-RPC message, possibly with the framing of an event. */
  call(onAnswer: (answer: Buffer) => void, onFailure: (error: Error) => void): void;
  close(): void;
}

export interface Link {
  /** The result of one request. Throws if there is none. */
  ask(call: Call): Promise<Readonly<Record<string, unknown>>>;
  /** A number of lanes that send these requests in turn. Creates sessions if the era has them. */
  lanes(calls: readonly Call[], options: { readonly count: number }): Promise<Lane[]>;
  /** Opens sessions up to this number and keeps them. */
  openSessions(count: number): Promise<void>;
  close(): void;
}

/** The number of sessions for a number of concurrent calls. */
export function sessionsFor(lanes: number): number {
  if (lanes === 1) return 1;
  return lanes <= 16 ? 4 : 8;
}

/** The result in a message, or in the last event of a stream. */
export function resultOf(answer: Buffer): Readonly<Record<string, unknown>> {
  const text = answer.toString();
  const data = text.startsWith("{") ? text : (/^data: ?(.*)$/m.exec(text.slice(text.lastIndexOf("data:")))?.[1] ?? "");
  const { result } = (data === "" ? {} : JSON.parse(data)) as { result?: Readonly<Record<string, unknown>> };
  if (result === undefined) throw new Error(`No result: ${text.slice(0, 300)}`);
  return result;
}
