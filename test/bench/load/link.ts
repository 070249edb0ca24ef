// What the load generator needs of a way to an MCP server; one file beside this for each way.

import type { Call } from "./message.ts";

/** One call at a time. */
export interface Lane {
  /** Sends the lane's next request. The answer is a JSON-RPC message, maybe with an event's words around it. */
  call(onAnswer: (answer: Buffer) => void, onFailure: (error: Error) => void): void;
  close(): void;
}

export interface Link {
  /** The result of one request. Throws where there is none. */
  ask(call: Call): Promise<Readonly<Record<string, unknown>>>;
  /** So many lanes that send these requests in turn. Sessions are made where the era has them. */
  lanes(calls: readonly Call[], options: { readonly count: number }): Promise<Lane[]>;
  /** Opens sessions until there are so many, and keeps them. */
  openSessions(count: number): Promise<void>;
  close(): void;
}

/** How many sessions so many calls in flight come from. */
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
