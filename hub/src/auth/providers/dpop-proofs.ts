// Checks that the sender of a token has the key that the token is bound to (RFC 9449). Each proof is good for one request.

import { createHash } from "node:crypto";
import type { IdentifiedRequest } from "../credential.ts";
import { ALGORITHMS } from "./issuer-settings.ts";
import { InvalidToken } from "./refusals.ts";

export interface ProofSubject {
  readonly token: string;
  /** Of the key that the token is bound to. */
  readonly thumbprint: string;
  readonly request: IdentifiedRequest;
  /** Where clients reach the hub. */
  readonly base: string;
}

const MAX_AGE_MS = 60_000;
/** Longer than a proof is accepted. */
const REMEMBERED_MS = 5 * 60_000;
const MAX_REMEMBERED = 100_000;
const MAX_CHARACTERS = 4096;

export class DpopProofs {
  readonly #now: () => number;
  /** When each was used, oldest first. */
  readonly #used = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Rejects with InvalidToken unless the request has a fresh proof for exactly this token and address. */
  async check({ token, thumbprint, request, base }: ProofSubject): Promise<void> {
    const { dpop: proof } = request.headers;
    if (typeof proof !== "string" || proof.length > MAX_CHARACTERS) throw refused("has no proof");
    const { jwtVerify, EmbeddedJWK, calculateJwkThumbprint, errors } = await import("jose");
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: "dpop+jwt",
      algorithms: [...ALGORITHMS],
      currentDate: new Date(this.#now()),
    }).catch((thrown: unknown) => {
      throw thrown instanceof errors.JOSEError || thrown instanceof TypeError
        ? refused("has an invalid proof")
        : thrown;
    });
    const { jwk } = protectedHeader;
    if (jwk === undefined || (await calculateJwkThumbprint(jwk)) !== thumbprint)
      throw refused("is bound to another key");
    const { htm, htu, ath, iat, jti } = payload;
    if (htm !== request.method || !isAddress(htu, base + pathOf(request.url))) {
      throw refused("has the proof of another request");
    }
    if (ath !== createHash("sha256").update(token).digest("base64url")) throw refused("has the proof of another token");
    if (iat === undefined || Math.abs(iat * 1000 - this.#now()) > MAX_AGE_MS) throw refused("has an old proof");
    if (typeof jti !== "string" || jti === "") throw refused("has a proof without jti");
    this.#use(`${thumbprint} ${createHash("sha256").update(jti).digest("base64url")}`);
  }

  #use(id: string): void {
    const now = this.#now();
    for (const [old, at] of this.#used) {
      if (now - at < REMEMBERED_MS && this.#used.size < MAX_REMEMBERED) break;
      this.#used.delete(old);
    }
    if (this.#used.has(id)) throw refused("has a proof that was used before");
    this.#used.set(id, now);
  }
}

/** Query and fragment do not count (RFC 9449, 4.3). */
function isAddress(given: unknown, expected: string): boolean {
  if (typeof given !== "string" || !URL.canParse(given) || !URL.canParse(expected)) return false;
  const [{ origin, pathname }, own] = [new URL(given), new URL(expected)];
  return origin === own.origin && pathname === own.pathname;
}

function pathOf(url = ""): string {
  return url.split("?", 1)[0] ?? "";
}

function refused(fault: string): InvalidToken {
  return new InvalidToken(`The request ${fault}: the token is bound to a key of its client`, { isGenuine: true });
}
