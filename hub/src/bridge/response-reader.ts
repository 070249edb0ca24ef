// One HTTP/1.1 response after the other, from the bytes of a connection. What they mean is the exchange's; this knows where
// one begins and ends, and refuses whatever could be read in two ways.

import { HubError } from "../errors.ts";
import { trimEnds } from "../trim.ts";

/** By their names in small letters; several of one name as one, with commas. */
export type Headers = Readonly<Record<string, string | undefined>>;

export interface ResponseHandler {
  onHead(status: number, headers: Headers): void;
  onBody(chunk: Buffer): void;
  /**
   * The response is complete. `reusable` says whether the connection can carry another one: not if it was to be the last,
   * nor if more came in one piece with it, which nobody has asked for.
   */
  onEnd(reusable: boolean): void;
}

type State =
  | { readonly at: "head" | "size" | "chunk end" | "trailers" | "until close" }
  | { readonly at: "body" | "chunk"; left: number };

const HEAD: State = { at: "head" };
const SIZE: State = { at: "size" };
const CHUNK_END: State = { at: "chunk end" };
const TRAILERS: State = { at: "trailers" };
const UNTIL_CLOSE: State = { at: "until close" };

const MAX_HEAD_BYTES = 64 << 10;
const MAX_LINE_BYTES = 4 << 10;
const LINE_END = Buffer.from("\r\n");
const HEAD_END = Buffer.from("\r\n\r\n");
const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: |$)/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Control characters, and half an end of a line: others may take it for a whole one. */
// eslint-disable-next-line no-control-regex -- these are meant
const STRAY = /[\0-\x08\v\f\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;
/** Not `String.trim`: that takes away more than HTTP calls blank. */
const BLANKS = " \t";
const NOTHING: Buffer = Buffer.alloc(0);

export class ResponseReader {
  readonly #handler: ResponseHandler;
  #state: State = HEAD;
  /** Of a head or line that has not ended yet. */
  #rest = NOTHING;
  #reusable = true;

  constructor(handler: ResponseHandler) {
    this.#handler = handler;
  }

  /** Throws where the bytes are no response. */
  push(given: Buffer): void {
    const chunk = this.#rest.length === 0 ? given : Buffer.concat([this.#rest, given]);
    this.#rest = NOTHING;
    let from = 0;
    while (from < chunk.length) {
      const to = this.#take(chunk, from);
      if (to === undefined) {
        this.#rest = chunk.subarray(from);
        return;
      }
      from = to;
    }
  }

  /** No more bytes come. Whether that is where the response was to end. */
  close(): boolean {
    if (this.#state.at !== "until close") return false;
    this.#end(true);
    return true;
  }

  /** Takes what comes next, and gives where that ended; undefined where more is needed first. */
  #take(chunk: Buffer, from: number): number | undefined {
    const state = this.#state;
    switch (state.at) {
      case "head":
        return this.#head(chunk, from);
      case "body":
      case "chunk": {
        const to = Math.min(chunk.length, from + state.left);
        state.left -= to - from;
        this.#handler.onBody(from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to));
        if (state.left === 0 && state.at === "chunk") this.#state = CHUNK_END;
        else if (state.left === 0) this.#end(to === chunk.length);
        return to;
      }
      case "until close":
        this.#handler.onBody(chunk.subarray(from));
        return chunk.length;
      case "size":
      case "chunk end":
      case "trailers":
        return this.#line(chunk, from, state.at);
    }
  }

  #line(chunk: Buffer, from: number, at: "size" | "chunk end" | "trailers"): number | undefined {
    const end = boundedEnd(chunk, from, { mark: LINE_END, maxBytes: MAX_LINE_BYTES, what: "a line of it" });
    if (end === undefined) return undefined;
    const line = chunk.toString("latin1", from, end);
    const next = end + LINE_END.length;
    if (at === "size") {
      const size = /^([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?$/.exec(line)?.[1];
      if (size === undefined) throw notHttp("the size of a chunk is not one");
      const left = Number.parseInt(size, 16);
      this.#state = left === 0 ? TRAILERS : { at: "chunk", left };
    } else if (at === "chunk end") {
      if (line !== "") throw notHttp("a chunk is longer than it says");
      this.#state = SIZE;
    } else if (line === "") {
      this.#end(next === chunk.length);
    }
    return next;
  }

  #head(chunk: Buffer, from: number): number | undefined {
    const end = boundedEnd(chunk, from, { mark: HEAD_END, maxBytes: MAX_HEAD_BYTES, what: "its head" });
    if (end === undefined) return undefined;
    const text = chunk.toString("latin1", from, end);
    if (STRAY.test(text)) throw notHttp("a byte in its head has no place there");
    const [first = "", ...lines] = text.split("\r\n");
    const match = STATUS_LINE.exec(first);
    if (match === null) throw notHttp("it does not begin as one");
    const status = Number(match[2]);
    const next = end + HEAD_END.length;
    // More is to come, of the same response.
    if (status >= 100 && status < 200 && status !== 101) return next;
    const headers = readFields(lines);
    this.#reusable = match[1] === "1" && !isClosing(headers["connection"]);
    this.#state = bodyOf(status, headers);
    if (this.#state.at === "until close") this.#reusable = false;
    const isEmpty = this.#state.at === "body" && this.#state.left === 0;
    this.#handler.onHead(status, headers);
    if (isEmpty) this.#end(next === chunk.length);
    return next;
  }

  #end(isLast: boolean): void {
    this.#state = HEAD;
    this.#handler.onEnd(this.#reusable && isLast);
  }
}

/** Where the mark stands; undefined where it may still come. The bound is the same however the bytes are cut. */
function boundedEnd(
  chunk: Buffer,
  from: number,
  { mark, maxBytes, what }: { readonly mark: Buffer; readonly maxBytes: number; readonly what: string },
): number | undefined {
  const end = chunk.indexOf(mark, from);
  // Of a mark that is not whole yet, all but its last byte may be there.
  const least = end < 0 ? chunk.length - (mark.length - 1) : end;
  if (least - from > maxBytes) throw notHttp(`${what} does not end`);
  return end < 0 ? undefined : end;
}

function readFields(lines: readonly string[]): Headers {
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const colon = line.indexOf(":");
    const key = line.slice(0, colon < 0 ? 0 : colon).toLowerCase();
    if (!NAME.test(key)) throw notHttp("one of its headers is none");
    const value = trimEnds(line.slice(colon + 1), BLANKS);
    const before = headers[key];
    headers[key] = before === undefined ? value : `${before}, ${value}`;
  }
  return headers;
}

function isClosing(connection: Headers[string]): boolean {
  return connection !== undefined && /\bclose\b/i.test(connection);
}

function bodyOf(status: number, headers: Headers): State {
  if (status === 101) throw notHttp("it changes the protocol");
  if (status === 204 || status === 304) return { at: "body", left: 0 };
  const coding = headers["transfer-encoding"];
  const length = headers["content-length"];
  if (coding !== undefined) {
    if (length !== undefined || coding.toLowerCase() !== "chunked") throw notHttp("its length is unclear");
    return SIZE;
  }
  if (length === undefined) return UNTIL_CLOSE;
  if (!/^\d{1,15}$/.test(length)) throw notHttp("its length is unclear");
  return { at: "body", left: Number(length) };
}

function notHttp(detail: string): HubError {
  return new HubError("ProtocolError", "The answer is not valid HTTP", { detail, delivery: "unknown" });
}
