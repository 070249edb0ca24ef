// Logins that wait for a person: each is found by the secret state in the callback, which is used once.

import { createHash, randomUUID } from "node:crypto";
import { HubError } from "../../errors.ts";
import type { DeviceCode } from "../../oauth/device.ts";
import type { AuthorizationRequest } from "../../oauth/types.ts";
import type { PreparedLogin } from "./oauth-client.ts";
import type { ServerLogin } from "./server-login.ts";

const LIFETIME_MS = 600_000;
const MAX_PENDING = 100;
/** At one server, by one principal. */
const MAX_PER_LOGIN = 5;

export type LoginFlow =
  | { readonly flow: "browser"; readonly request: AuthorizationRequest }
  | { readonly flow: "device"; readonly device: DeviceCode };

export type LoginProgress =
  | { readonly state: "pending" }
  | { readonly state: "completed" }
  | { readonly state: "failed"; readonly error: HubError };

/**
 * Which browser may finish an attempt: the one with the cookie of this digest; any, for the hub's owner, who is shown the address; none,
 * for a program, whose person pastes the address with its credentials. Otherwise somebody could be made to log in for another person.
 */
export type FinishingBrowser = Buffer | "any" | "none";

/** One attempt of a person to log in. */
export interface PendingLogin {
  readonly id: string;
  readonly browser: FinishingBrowser;
  readonly login: ServerLogin;
  readonly prepared: PreparedLogin;
  readonly flow: LoginFlow;
  readonly expiresAt: number;
  /** Aborted when it is cancelled or expires. */
  readonly signal: AbortSignal;
  progress: LoginProgress;
}

export class PendingLogins {
  readonly #onExpired: (pending: PendingLogin) => void;
  readonly #byId = new Map<
    string,
    PendingLogin & { readonly timer: NodeJS.Timeout; readonly abort: AbortController }
  >();
  /** By the digest of the state: a look-up by the state itself could be timed. */
  readonly #byState = new Map<string, string>();

  /** `onExpired`: it was not finished in time. */
  constructor(onExpired: (pending: PendingLogin) => void) {
    this.#onExpired = onExpired;
  }

  add(
    login: ServerLogin,
    prepared: PreparedLogin,
    { flow, browser }: { readonly flow: LoginFlow; readonly browser: FinishingBrowser },
  ): PendingLogin {
    this.#requireRoom(login);
    const id = randomUUID();
    const abort = new AbortController();
    const timer = setTimeout(() => {
      if (this.end(id, expired(login))) this.#onExpired(pending);
    }, LIFETIME_MS);
    timer.unref();
    const pending = {
      id,
      browser,
      login,
      prepared,
      flow,
      expiresAt: Date.now() + LIFETIME_MS,
      signal: abort.signal,
      progress: { state: "pending" } as LoginProgress,
      timer,
      abort,
    };
    this.#byId.set(id, pending);
    if (flow.flow === "browser") this.#byState.set(digestOf(flow.request.state), id);
    return pending;
  }

  find(id: string): PendingLogin | undefined {
    return this.#byId.get(id);
  }

  findByState(state: string): PendingLogin | undefined {
    const id = this.#byState.get(digestOf(state));
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** A callback with this state has arrived: no other one may. */
  useState(state: string): void {
    this.#byState.delete(digestOf(state));
  }

  /** The open login of a server, if there is one. */
  ofServer(login: ServerLogin): PendingLogin | undefined {
    return this.open.find((pending) => pending.login === login);
  }

  /** Ends it, with the reason if it failed. Its result can be read for another ten minutes. False: it had ended before. */
  end(id: string, error?: HubError): boolean {
    const pending = this.#byId.get(id);
    if (pending === undefined || pending.progress.state !== "pending") return false;
    pending.progress = error === undefined ? { state: "completed" } : { state: "failed", error };
    pending.abort.abort();
    clearTimeout(pending.timer);
    if (pending.flow.flow === "browser") this.#byState.delete(digestOf(pending.flow.request.state));
    setTimeout(() => this.#byId.delete(id), LIFETIME_MS).unref();
    return true;
  }

  /** Ends all of a server, or all. */
  cancel(login?: ServerLogin): void {
    for (const pending of this.open) {
      if (login === undefined || pending.login === login) this.end(pending.id, cancelled(pending.login));
    }
  }

  get open(): PendingLogin[] {
    return [...this.#byId.values()].filter(({ progress }) => progress.state === "pending");
  }

  /** The oldest attempt of a person at a server gives way to a new one: its person has probably closed the page. */
  #requireRoom(login: ServerLogin): void {
    const open = this.open;
    const { server, principal } = login.key;
    const same = open.filter(({ login: { key } }) => key.server === server && key.principal === principal);
    const [oldest] = same;
    if (same.length >= MAX_PER_LOGIN && oldest !== undefined) this.end(oldest.id, cancelled(login));
    else if (open.length >= MAX_PENDING) {
      throw new HubError("RateLimited", `More than ${MAX_PENDING} logins wait for their callback`, {
        retryAfterMs: LIFETIME_MS,
      });
    }
  }
}

function digestOf(state: string): string {
  return createHash("sha256").update(state).digest("base64url");
}

function expired({ config: { name } }: ServerLogin): HubError {
  const hint = `plugboard auth ${name}`;
  return new HubError("LoginFailed", `The login at "${name}" was not finished within ten minutes`, { hint });
}

function cancelled({ config: { name } }: ServerLogin): HubError {
  return new HubError("LoginFailed", `The login at "${name}" was cancelled`, { hint: `plugboard auth ${name}` });
}
