// A request as bytes that are created once; only the id is written for each send.

import type { Era } from "../upstreams/server.ts";

export interface Call {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Nine digits, so that the length never changes. */
const FIRST_ID = 100_000_000;
const ID_IN_ANSWER = /"id": *(\d{9})/;
/** The end of a long answer that is searched for the id: servers write it first or last. */
const EDGE = 160;

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** One for each client, with unique ids. */
export class Ids {
  #next = FIRST_ID;

  next(): number {
    return this.#next++;
  }
}

export class Message {
  /** Includes the text before the JSON, such as the head of an HTTP request. */
  readonly bytes: Buffer;
  readonly #idAt: number;

  constructor(call: Call, era: Era, wrap: (json: string) => string) {
    const text = wrap(jsonOf(call, era, FIRST_ID));
    this.bytes = Buffer.from(text);
    this.#idAt = this.bytes.lastIndexOf(`"id":${FIRST_ID}`) + '"id":'.length;
  }

  /** The bytes with this id, valid until the next call. */
  withId(id: number): Buffer {
    this.bytes.write(String(id), this.#idAt, "latin1");
    return this.bytes;
  }
}

export function jsonOf({ method, params }: Call, era: Era, id: number): string {
  const all = era === "modern" ? { ...params, _meta: ENVELOPE } : params;
  return JSON.stringify({ jsonrpc: "2.0", id, method, params: all });
}

/** The id of an answer; undefined if it does not answer one of our requests. */
export function idOf(answer: Buffer): number | undefined {
  const first = ID_IN_ANSWER.exec(answer.toString("latin1", 0, EDGE));
  const found = first ?? ID_IN_ANSWER.exec(answer.toString("latin1", Math.max(0, answer.length - EDGE)));
  return found === null ? undefined : Number(found[1]);
}

export function initializeCall(protocolVersion: string): Call {
  const clientInfo = { name: "bench", version: "1" };
  return { method: "initialize", params: { protocolVersion, capabilities: {}, clientInfo } };
}

export const INITIALIZED = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
