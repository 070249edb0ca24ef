// The backends of clients with access tokens of the hub, one per token. A backend ends within a second when its token was revoked or has
// expired, and when chat.json allows it something else.

import { AccessTokenLookup, type ValidToken } from "@plugboard/shared/access-tokens/lookup";
import { scopeOf } from "../access/token-scope.ts";
import type { App } from "../app.ts";
import type { Guard, Refusal } from "./guard.ts";
import { HttpBackend } from "./http-backend.ts";
import { scopedApp } from "./scoped-app.ts";

export interface TokenBackendsOptions {
  /** The hub's identity.db. */
  readonly identity: string | undefined;
  readonly onError: (error: unknown) => void;
}

interface Limited {
  readonly token: ValidToken;
  /** What it may see, as JSON. */
  readonly scope: string;
  readonly backend: HttpBackend;
}

type Found =
  | { readonly as: "limited"; readonly backend: HttpBackend }
  | { readonly as: "refused"; readonly refusal: Refusal };

const CHECK_MS = 500;

export class TokenBackends {
  readonly #app: App;
  readonly #options: TokenBackendsOptions;
  readonly #tokens: AccessTokenLookup | undefined;
  /** By the id of the token. */
  readonly #limited = new Map<string, Limited>();
  #timer: NodeJS.Timeout | undefined;

  constructor(app: App, options: TokenBackendsOptions) {
    this.#app = app;
    this.#options = options;
    this.#tokens = options.identity === undefined ? undefined : new AccessTokenLookup(options.identity);
  }

  async find(presented: string, guard: Guard): Promise<Found> {
    const token = await this.#tokens?.find(presented);
    if (token === undefined) return { as: "refused", refusal: guard.unknownToken };
    const known = this.#limited.get(token.id);
    const scope = this.#scopeOf(token);
    if (known !== undefined && known.scope === scope) return { as: "limited", backend: known.backend };
    if (known !== undefined) this.#end(known);
    const allowed = scopeOf(token, this.#app.reader.policy.access);
    if (allowed === undefined) return { as: "refused", refusal: guard.noAccess(token.principal) };
    const backend = new HttpBackend(scopedApp(this.#app, allowed), this.#options.onError);
    this.#limited.set(token.id, { token, scope, backend });
    this.#timer ??= setInterval(() => void this.#check().catch(this.#options.onError), CHECK_MS).unref();
    return { as: "limited", backend };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#limited.values()].map(({ backend }) => backend.close()));
    this.#limited.clear();
    await this.#tokens?.close();
  }

  async #check(): Promise<void> {
    for (const limited of this.#limited.values()) {
      const isValid = await this.#tokens?.isValid(limited.token.id);
      if (isValid !== true || this.#scopeOf(limited.token) !== limited.scope) this.#end(limited);
    }
  }

  #scopeOf(token: ValidToken): string {
    return JSON.stringify(scopeOf(token, this.#app.reader.policy.access) ?? null);
  }

  #end(limited: Limited): void {
    this.#limited.delete(limited.token.id);
    void limited.backend.close().catch(this.#options.onError);
  }
}
