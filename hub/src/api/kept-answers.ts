// Answers kept by Idempotency-Key: who asks again gets the first answer, and nothing happens twice. In memory, and bounded:
// a hub that was restarted, or had a thousand other keys since, has forgotten a key.

import { createHash } from "node:crypto";
import { HubError } from "../errors.ts";

export const KEY_HEADER = "idempotency-key";
/** On an answer that was given before. */
export const REPLAYED_HEADER = "idempotency-replayed";
const KEY = /^[\x21-\x7e]{1,255}$/;
const SERVER_ERROR = 500;

export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface KeptAnswersOptions {
  readonly maxKeys?: number;
  readonly maxAgeMs?: number;
  /** Of all bodies together. */
  readonly maxBytes?: number;
  /** Of one body. */
  readonly maxAnswerBytes?: number;
  readonly now?: () => number;
}

type State =
  | { readonly state: "running"; readonly answer: Promise<KeptAnswer> }
  | { readonly state: "done"; readonly answer: KeptAnswer }
  /** Carried out, but what it answered was too large to keep. */
  | { readonly state: "dropped" };

interface Entry {
  readonly digest: string;
  readonly at: number;
  now: State;
}

export class KeptAnswers {
  readonly #maxKeys: number;
  readonly #maxAgeMs: number;
  readonly #maxBytes: number;
  readonly #maxAnswerBytes: number;
  readonly #clock: () => number;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(options: KeptAnswersOptions = {}) {
    this.#maxKeys = options.maxKeys ?? 1000;
    this.#maxAgeMs = options.maxAgeMs ?? 24 * 3_600_000;
    this.#maxBytes = options.maxBytes ?? 32 << 20;
    this.#maxAnswerBytes = options.maxAnswerBytes ?? 1 << 20;
    this.#clock = options.now ?? (() => performance.now());
  }

  /**
   * The answer to the first request with this key; `make` runs for that one only. Who asks while it runs waits for it. What
   * failed inside the hub or a server is not kept, so that it can be tried again.
   */
  async answer(
    key: string,
    digest: string,
    make: () => Promise<KeptAnswer>,
  ): Promise<{ readonly answer: KeptAnswer; readonly replayed: boolean }> {
    requireKey(key);
    this.#forgetOld();
    const known = this.#entries.get(key);
    if (known !== undefined) return { answer: await replay(known, digest), replayed: true };
    if (this.#entries.size >= this.#maxKeys) this.#makeRoom();
    const running = make();
    const entry: Entry = { digest, at: this.#clock(), now: { state: "running", answer: running } };
    this.#entries.set(key, entry);
    try {
      const answer = await running;
      this.#keep(key, entry, answer);
      return { answer, replayed: false };
    } catch (error) {
      this.#entries.delete(key);
      throw error;
    }
  }

  #keep(key: string, entry: Entry, answer: KeptAnswer): void {
    if (answer.status >= SERVER_ERROR) return void this.#entries.delete(key);
    if (answer.body.length > this.#maxAnswerBytes) return void (entry.now = { state: "dropped" });
    entry.now = { state: "done", answer };
    this.#bytes += answer.body.length;
    for (const [oldest] of this.#finished()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#forget(oldest);
    }
  }

  #forgetOld(): void {
    const oldest = this.#clock() - this.#maxAgeMs;
    for (const [key, { at }] of this.#finished()) {
      if (at > oldest) return;
      this.#forget(key);
    }
  }

  #makeRoom(): void {
    const [oldest] = this.#finished().next().value ?? [];
    if (oldest !== undefined) return this.#forget(oldest);
    throw new HubError("RateLimited", `${this.#maxKeys} requests with an Idempotency-Key are under way`, {
      hint: "Try again when some of them are answered",
    });
  }

  *#finished(): Generator<[key: string, entry: Entry]> {
    for (const pair of this.#entries) if (pair[1].now.state !== "running") yield pair;
  }

  #forget(key: string): void {
    const state = this.#entries.get(key)?.now;
    if (state?.state === "done") this.#bytes -= state.answer.body.length;
    this.#entries.delete(key);
  }
}

/** What makes two requests the same one. */
export function digestOf(method: string, path: string, body: Buffer): string {
  return createHash("sha256").update(`${method} ${path}\n`).update(body).digest("base64");
}

async function replay({ digest, now }: Entry, asked: string): Promise<KeptAnswer> {
  if (digest !== asked) {
    throw new HubError("IdempotencyKeyReused", "This Idempotency-Key belongs to another request", {
      field: KEY_HEADER,
      detail: "The first request with this key had another method, address or body. Nothing was done",
      hint: "Use a new key for each new request, and the same one only to repeat it",
    });
  }
  switch (now.state) {
    case "running":
    case "done":
      return now.answer;
    case "dropped":
      throw new HubError("IdempotencyKeyReused", "The first answer to this Idempotency-Key was too large to keep", {
        field: KEY_HEADER,
        detail: "The request was carried out then, and was not repeated now",
        hint: "To do it again, use a new key",
      });
  }
}

function requireKey(key: string): void {
  if (KEY.test(key)) return;
  throw new HubError("InvalidConfig", "An Idempotency-Key is 1 to 255 characters of ASCII, without blanks", {
    field: KEY_HEADER,
    hint: "Use a UUID",
  });
}
