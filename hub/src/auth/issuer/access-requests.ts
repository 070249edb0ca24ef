// Requests of OAuth clients that wait for a person to sign in and to consent. Each has a code that is shown in the browser that
// wants to sign in; who is known to the hub in another way (the command line, the web interface) can approve it.

import { randomInt } from "node:crypto";
import { HubError } from "../../errors.ts";
import type { Grant } from "../grant.ts";
import { isSameDigest, digestOf, randomSecret } from "../secret-digest.ts";

/** What is asked for, as it is shown. */
export interface AccessRequest {
  /** The id of the request. */
  readonly id: string;
  readonly clientId: string;
  /** The name that the client gives itself; "" if it gives none. */
  readonly clientName: string;
  /** The host or scheme that gets the code. */
  readonly redirectHost: string;
  readonly isLoopback: boolean;
  /** The group that is asked for; undefined: the person chooses. */
  readonly group: string | undefined;
  readonly readOnly: boolean;
  /** The address of the browser. */
  readonly address: string;
}

export interface WaitingRequest {
  readonly request: AccessRequest;
  /** `7QF2-MKPX` */
  readonly code: string;
  readonly expiresAt: number;
  /** Proves that the form was on our page. */
  readonly csrf: string;
  /** Who has signed in. */
  signedIn: Grant | undefined;
}

/** Without those that look or sound alike. */
const LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ23456789";
const LIFE_MS = 10 * 60_000;
const MAX_WAITING = 500;

export class AccessRequests {
  readonly #now: () => number;
  /** Oldest first. */
  readonly #waiting = new Map<string, WaitingRequest>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The request as it waits, from the first time that it is shown. */
  open(request: AccessRequest): WaitingRequest {
    this.#removeExpired();
    const known = this.#waiting.get(request.id);
    if (known !== undefined) return known;
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size >= MAX_WAITING && oldest !== undefined) this.#waiting.delete(oldest);
    const expiresAt = this.#now() + LIFE_MS;
    const opened: WaitingRequest = { request, code: makeCode(), expiresAt, csrf: randomSecret(), signedIn: undefined };
    this.#waiting.set(request.id, opened);
    return opened;
  }

  find(id: string): WaitingRequest | undefined {
    this.#removeExpired();
    return this.#waiting.get(id);
  }

  close(id: string): void {
    this.#waiting.delete(id);
  }

  /** By its code, as a person types it. */
  findByCode(typed: string): WaitingRequest {
    this.#removeExpired();
    const code = digestOf(normalized(typed));
    const found = [...this.#waiting.values()].find((each) => isSameDigest(digestOf(normalized(each.code)), code));
    if (found !== undefined) return found;
    throw new HubError("LoginNotFound", "No sign-in is waiting for this code", {
      hint: "Codes are valid for ten minutes. The page that shows the code makes a new one when it is opened again",
    });
  }

  #removeExpired(): void {
    const now = this.#now();
    for (const [id, { expiresAt }] of this.#waiting) if (expiresAt <= now) this.#waiting.delete(id);
  }
}

function makeCode(): string {
  const letters = Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join("");
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

function normalized(code: string): string {
  return code.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
}
