// The access token of one server: what requests send of it, and until when.

import { dpopSigner, type DpopSigner } from "../../oauth/dpop.ts";
import type { DpopKey } from "../../oauth/types.ts";
import { deadlinesOf, isPast, type Clock, type Deadlines } from "./clock.ts";
import { httpUrl } from "./login-target.ts";

/** The token in use. */
interface HeldToken {
  readonly access: string;
  readonly type: "Bearer" | "DPoP";
  /** Of a token that is bound to a key. */
  readonly prove: DpopSigner | undefined;
  readonly scopes: readonly string[];
  readonly deadlines: Deadlines;
  readonly headers: Readonly<Record<string, string>>;
}

/** A token as it was received, perhaps by an earlier process. */
export interface ReceivedToken {
  readonly access: string;
  readonly type: "Bearer" | "DPoP";
  readonly dpop: DpopKey | undefined;
  readonly scopes: readonly string[];
  readonly receivedAt: number;
  readonly expiresIn?: number | undefined;
}

const NO_HEADERS = {};

export class CurrentToken {
  readonly #clock: Clock;
  #held: HeldToken | undefined;
  #generation = 0;
  #nonce: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Changes with every new token, and when there is none any more. */
  get generation(): number {
    return this.#generation;
  }

  get held(): HeldToken | undefined {
    return this.#held;
  }

  /** It should be renewed. */
  get isDue(): boolean {
    return this.#held !== undefined && isPast(this.#held.deadlines.renewAt, this.#clock);
  }

  get isUsable(): boolean {
    return this.#held !== undefined && !isPast(this.#held.deadlines.expiresAt, this.#clock);
  }

  replace(token: ReceivedToken | undefined): void {
    this.#held = token === undefined ? undefined : toHeldToken(token, this.#clock);
    this.#generation++;
  }

  /** Whether the server has not sent this nonce before. */
  takeNonce(nonce: string): boolean {
    const isNew = nonce !== this.#nonce;
    this.#nonce = nonce;
    return isNew;
  }

  headersFor(method: string, url: URL): Readonly<Record<string, string>> {
    const held = this.#held;
    if (held === undefined) return NO_HEADERS;
    if (held.prove === undefined) return held.headers;
    const nonce = this.#nonce === undefined ? {} : { nonce: this.#nonce };
    const target = { method, url: httpUrl(url).href, accessToken: held.access, ...nonce };
    return { ...held.headers, dpop: held.prove(target) };
  }
}

function toHeldToken(token: ReceivedToken, clock: Clock): HeldToken {
  const { access, type, dpop, scopes } = token;
  const prove = type === "DPoP" && dpop !== undefined ? dpopSigner(dpop) : undefined;
  const headers = { authorization: `${type} ${access}` };
  return { access, type, prove, scopes, deadlines: deadlinesOf(token, clock), headers };
}
