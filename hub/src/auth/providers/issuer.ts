// One identity provider: checks tokens that it may have issued.

import type { JsonObject } from "../../lib/json/json.ts";
import type { CredentialShape } from "../credential.ts";
import type { GuardedFetch } from "../../oauth/types.ts";
import { introspect } from "./introspect.ts";
import { IssuerEndpoints } from "./issuer-endpoints.ts";
import type { IssuerSettings } from "./issuer-settings.ts";
import { KeySet } from "./key-set.ts";
import { claimedIssuer, verifyJwt } from "./verify-jwt.ts";

export interface IssuerOptions {
  readonly settings: IssuerSettings;
  /** A fetch for addresses that come from a document of this address. */
  readonly fetchFor: (address: string) => GuardedFetch;
  /** The wall clock, in milliseconds. */
  readonly now: () => number;
}

/** An introspected token may be revoked at any time. */
const INTROSPECTED_MS = 60_000;

export class Issuer {
  readonly settings: IssuerSettings;
  readonly #now: () => number;
  readonly #endpoints: IssuerEndpoints;
  readonly #keys: KeySet;

  constructor({ settings, fetchFor, now }: IssuerOptions) {
    this.settings = settings;
    this.#now = now;
    this.#endpoints = new IssuerEndpoints({ settings, fetchFor, now });
    this.#keys = new KeySet({ issuer: settings.issuer, load: () => this.#endpoints.keys(), now });
  }

  /** Whether the token says that it is of this issuer, or only the issuer could say. */
  isAskedAbout(token: string, shape: CredentialShape): boolean {
    if (shape === "jwt") return claimedIssuer(token) === this.settings.issuer;
    return shape === "opaque" && this.settings.introspection !== undefined;
  }

  /** The claims of a valid token; undefined if it is of another issuer. Rejects with InvalidToken or IssuerUnavailable. */
  check(token: string, shape: CredentialShape): Promise<JsonObject | undefined> {
    if (shape === "jwt") return verifyJwt(token, this.settings, { keys: this.#keys, now: this.#now });
    return introspect(token, this.settings, { endpoints: this.#endpoints, now: this.#now });
  }

  /** How long a result counts at most. */
  recheckMs(shape: CredentialShape): number | undefined {
    return this.settings.recheckMs ?? (shape === "opaque" ? INTROSPECTED_MS : undefined);
  }
}
