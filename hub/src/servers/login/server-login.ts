// The credentials of one server with OAuth: gives each request its token, renews it in time, and decides what a refusal means.

import type { LookupFunction } from "node:net";
import type { ServerConfig } from "../../config/schema/types.ts";
import { HubError, toHubError } from "../../errors.ts";
import { parseChallenge } from "../../oauth/challenge.ts";
import type { Challenge } from "../../oauth/types.ts";
import type { Authorization, Refusal } from "../../protocol/connect/authorization.ts";
import type { LoginKey, LoginRecord, LoginStore } from "../../secrets/login-store.ts";
import { retryDelayMs, type Clock } from "./clock.ts";
import { CurrentToken, type ReceivedToken } from "./current-token.ts";
import {
  clientRefused,
  loginExpired,
  loginRequired,
  notAllowed,
  renewalDelayed,
  scopeRequired,
} from "./login-errors.ts";
import type { LoginEventName, LoginState } from "./login-state.ts";
import { asksForLogin, httpUrl } from "./login-target.ts";
import type { OAuthRequests } from "./oauth-client.ts";
import type { ResolvedAuth } from "./resolve-auth.ts";
import { RenewalTimer, type Renewable } from "./renewal-timer.ts";
import { StepUps } from "./step-ups.ts";

/** Whose login all callers of a server share, unless each has one of its own. */
export const LOCAL = "local";

export interface LoginContext {
  readonly store: LoginStore;
  readonly clock: Clock;
  readonly lookup?: LookupFunction | undefined;
  /** The values are secret from now on. The previous ones of this owner stay secret for a while. */
  readonly onSecrets: (owner: object, values: readonly string[]) => void;
  readonly resolveAuth: (config: ServerConfig, principal: string) => Promise<ResolvedAuth>;
  /** A page of the hub where a person can log in; undefined if the hub does not listen. */
  readonly loginUrl: (server: string) => string | undefined;
  readonly onEvent: (login: ServerLogin, what: LoginEventName) => void;
  /** Whose login it is. */
  readonly principal: string;
}

/** A moment that is past on both clocks. */
const NOW = { wall: 0, monotonic: 0 };

export class ServerLogin implements Authorization {
  readonly config: ServerConfig;
  readonly url: URL;
  readonly key: LoginKey;
  readonly stepUps: StepUps;
  readonly #context: LoginContext;
  readonly #isMachine: boolean;
  readonly #timer: RenewalTimer;
  readonly #token: CurrentToken;
  #requests: Promise<OAuthRequests> | undefined;
  #record: LoginRecord | undefined;
  #state: LoginState = { state: "none" };
  #isLoaded = false;
  #renewing: Promise<void> | undefined;
  /** The renewal of a token that the server refuses. */
  #recovering: Promise<void> | undefined;
  /** The last refusal of the server. */
  #challenge: Challenge | undefined;

  constructor(config: ServerConfig, url: URL, context: LoginContext) {
    this.config = config;
    this.url = httpUrl(url);
    this.key = { server: config.id, principal: context.principal };
    this.#context = context;
    this.#isMachine = config.auth !== undefined && config.auth.type !== "oauth";
    this.#token = new CurrentToken(context.clock);
    this.stepUps = new StepUps(context.clock);
    this.#timer = new RenewalTimer({ clock: context.clock, next: () => this.#next(), renew: () => this.renew() });
  }

  get generation(): number {
    return this.#token.generation;
  }

  get isPerRequest(): boolean {
    return this.#token.held?.type === "DPoP";
  }

  get record(): LoginRecord | undefined {
    return this.#record;
  }

  get state(): LoginState {
    return this.#state;
  }

  get challenge(): Challenge | undefined {
    return this.#challenge;
  }

  get isMachine(): boolean {
    return this.#isMachine;
  }

  get expiresAt(): number | undefined {
    const wall = this.#token.held?.deadlines.expiresAt.wall;
    return wall === undefined || wall === Infinity ? undefined : wall;
  }

  ready(): Promise<void> | undefined {
    this.#timer.used();
    // Without a login the request is sent as it is: most servers ask for none. A refusal looks for the login of another process.
    if (this.#token.held === undefined) return this.#isLoaded ? undefined : this.load();
    return this.#token.isDue && this.#isRenewable ? this.#renewInTime() : undefined;
  }

  headersFor(method: string, url: URL): Readonly<Record<string, string>> {
    return this.#token.headersFor(method, url);
  }

  onNonce(nonce: string): void {
    this.#token.takeNonce(nonce);
  }

  async refused({ error, generation, attempt }: Refusal): Promise<void> {
    const challenge = parseChallenge(error.challenge?.authenticate);
    const nonce = error.challenge?.nonce;
    const isNewNonce = nonce !== undefined && this.#token.takeNonce(nonce);
    // Another request has got a new token in the meantime.
    if (generation !== this.#token.generation && this.#token.held !== undefined) return;
    if (challenge?.error === "use_dpop_nonce" && isNewNonce && this.isPerRequest) return;
    if (error.status === 403) return this.#forbidden(error, challenge, attempt);
    this.#challenge = challenge;
    if (this.#isMachine) return this.#machineRefused(error, attempt);
    // Another process may have logged in or renewed.
    const known = this.#record?.generation;
    await this.load();
    if (this.#record !== undefined && this.#record.generation !== known) return;
    // A token that was renewed for this very request is refused for another reason than its age.
    if (this.#isRenewable && attempt === 0) return this.#renewRefused();
    const discover = async () => (await this.requests()).discover(challenge);
    if (this.#record === undefined && !(await asksForLogin(this.config, challenge, discover))) throw error;
    throw this.needsLogin(this.#record === undefined ? "required" : "expired", error);
  }

  /** Reads the stored login. */
  async load(): Promise<void> {
    let record: LoginRecord | undefined;
    let generation: number;
    do {
      ({ generation } = this.#token);
      record = this.#isMachine ? undefined : await this.#context.store.read(this.key);
      // What was read while a newer record came may be the one that it replaced.
    } while (generation !== this.#token.generation);
    this.#isLoaded = true;
    if (record === undefined) return this.#forget();
    // A login is bound to its server's address and to the configured issuer.
    const { auth } = this.config;
    const isOther = record.url !== this.url.href || (auth?.issuer !== undefined && auth.issuer !== record.issuer);
    if (isOther) return this.#forget();
    if (record.generation !== this.#record?.generation || record.ended !== this.#record.ended) this.adopt(record);
  }

  /** Uses a record that is stored. */
  adopt(record: LoginRecord): void {
    this.#record = record;
    const { scope, requested, dpop } = record;
    this.#hold({ ...record, dpop, scopes: scope === undefined ? requested : scope.split(" ") });
    if (record.ended !== undefined) this.#state = { state: "needs_login", error: this.#error("expired") };
    const { access, refresh, previous, client } = record;
    this.#context.onSecrets(
      this,
      [access, refresh, previous, client.secret, client.management?.token].filter((value) => value !== undefined),
    );
  }

  /** The stored login was removed. */
  #forget(): void {
    if (this.#record === undefined) return; // also for a machine
    this.#record = undefined;
    this.#token.replace(undefined);
    this.#state = { state: "none" };
    this.#timer.schedule();
  }

  /** After a logout: the server is asked for a login at the next request. */
  end(): void {
    this.#forget();
    this.#challenge = undefined;
    this.stepUps.clear();
  }

  /** Renews tokens in the background from now on. */
  run(): void {
    this.#timer.run();
  }

  stop(): void {
    this.#timer.stop();
    this.#context.onSecrets(this, []);
  }

  requests(): Promise<OAuthRequests> {
    return (this.#requests ??= this.#createRequests().catch((error: unknown) => {
      // A missing secret can be set while the hub runs.
      this.#requests = undefined;
      throw error;
    }));
  }

  async #createRequests(): Promise<OAuthRequests> {
    const { resolveAuth, clock, lookup, onSecrets } = this.#context;
    const [auth, { OAuthRequests: Requests }] = await Promise.all([
      resolveAuth(this.config, this.key.principal),
      import("./oauth-client.ts"),
    ]);
    if (this.#isMachine) onSecrets(this, auth.secrets);
    return new Requests({ url: this.url, auth, clock, lookup });
  }

  /** Gets new tokens now, with or without need. One renewal at a time. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
      this.#timer.schedule();
    });
    return this.#renewing;
  }

  /** Marks the login as over, and returns the error for callers. */
  needsLogin(what: "required" | "expired", cause?: HubError): HubError {
    const error = this.#error(what, cause);
    const wasKnown = this.#state.state === "needs_login";
    this.#state = { state: "needs_login", error };
    if (!wasKnown) this.#context.onEvent(this, what);
    return error;
  }

  #error(what: "required" | "expired", cause?: HubError): HubError {
    const { name } = this.config;
    const where = {
      server: name,
      principal: this.key.principal,
      loginUrl: this.#context.loginUrl(name),
      detail: cause?.detail ?? cause?.message,
      cause,
    };
    return what === "required" ? loginRequired(where) : loginExpired(where);
  }

  get #isRenewable(): boolean {
    return this.#isMachine || this.#record?.refresh !== undefined;
  }

  #hold(token: ReceivedToken): void {
    this.#token.replace(token);
    this.#state = { state: "connected" };
    this.#timer.schedule();
  }

  /** Before a request: waits for the renewal, unless the old token can still be used. */
  async #renewInTime(): Promise<void> {
    const { clock } = this.#context;
    const state = this.#state;
    if (state.state === "retrying" && clock.monotonic() < state.until) {
      if (this.#token.isUsable) return;
      throw this.#delayed(state);
    }
    try {
      await this.renew();
    } catch (error) {
      if (!this.#token.isUsable) throw error;
    }
  }

  /**
   * The server refuses a token that looks valid: it may have been revoked early, or its authorization server has changed. All
   * requests with that token wait for one renewal.
   */
  #renewRefused(): Promise<void> {
    this.#recovering ??= this.#recover().finally(() => (this.#recovering = undefined));
    return this.#recovering;
  }

  async #recover(): Promise<void> {
    const { generation } = this.#token;
    const requests = await this.requests();
    const discovery = await requests.discover(this.#challenge, { fresh: true }).catch((thrown: unknown) => {
      throw this.#retryLater(toHubError(thrown));
    });
    if (discovery.issuer !== this.#record?.issuer) {
      // Tokens and client of the old authorization server are of no use at the new one.
      await this.#context.store.edit(this.key, (slot) => slot.delete());
      this.#forget();
      throw this.needsLogin("required");
    }
    // Meanwhile the timer may have renewed it.
    if (generation === this.#token.generation) await this.renew();
  }

  async #renew(): Promise<void> {
    try {
      await (this.#isMachine ? this.#renewMachine() : this.#renewRecord());
    } catch (thrown) {
      throw this.#retryLater(toHubError(thrown));
    }
  }

  /** The error for callers. A failure that says nothing about the login keeps it, and is tried again. */
  #retryLater(error: HubError): HubError {
    if (error.code !== "NETWORK_ERROR" && error.kind !== "Locked" && error.kind !== "RateLimited") return error;
    const attempts = this.#state.state === "retrying" ? this.#state.attempts + 1 : 1;
    const delayMs = error.retryAfterMs ?? retryDelayMs(attempts);
    const until = this.#context.clock.monotonic() + delayMs;
    const state = { state: "retrying", error, attempts, until } as const;
    this.#state = state;
    this.#timer.schedule();
    if (attempts === 1) this.#context.onEvent(this, "retrying");
    return this.#delayed(state);
  }

  #delayed({ error, until }: Extract<LoginState, { state: "retrying" }>): HubError {
    const retryAfterMs = Math.max(0, until - this.#context.clock.monotonic());
    const detail = error.detail === undefined ? error.message : `${error.message}: ${error.detail}`;
    return renewalDelayed({ server: this.config.name, retryAfterMs, detail, cause: error });
  }

  async #renewRecord(): Promise<void> {
    const { store, clock, onEvent } = this.#context;
    const [{ renew }, { refresh }] = await Promise.all([import("./renewal.ts"), this.requests()]);
    const result = await renew({ store, key: this.key, clock, refresh }, this.#record?.generation ?? 0);
    switch (result.outcome) {
      case "renewed":
        this.adopt(result.record);
        if (result.byUs) onEvent(this, "renewed");
        return;
      case "gone":
        this.#forget();
        throw this.needsLogin("required");
      case "ended":
        this.#record = result.record;
        throw this.needsLogin("expired");
      case "refused":
        if (result.record.client.how === "registered") this.#forget();
        throw this.needsLogin("required", result.error);
    }
  }

  async #renewMachine(): Promise<void> {
    const requests = await this.requests();
    const { tokens, scopes, dpop } = await requests.machineToken(this.#challenge, this.stepUps.scopes);
    this.#context.onSecrets(this, [
      ...(await this.#context.resolveAuth(this.config, this.key.principal)).secrets,
      tokens.access,
    ]);
    const granted = tokens.scope === undefined ? scopes : tokens.scope.split(" ");
    this.#hold({ ...tokens, dpop, scopes: granted, receivedAt: this.#context.clock.now() });
  }

  async #machineRefused(error: HubError, attempt: number): Promise<void> {
    if (attempt > 0 && this.#token.held !== undefined) throw this.#machineFailed(error);
    try {
      await this.renew();
    } catch (thrown) {
      const failure = toHubError(thrown);
      throw failure.code === "UNAUTHENTICATED" ? this.#machineFailed(failure) : failure;
    }
  }

  #machineFailed(error: HubError): HubError {
    const failure = clientRefused({ server: this.config.name, detail: error.detail ?? error.message, cause: error });
    this.#state = { state: "needs_login", error: failure };
    return failure;
  }

  async #forbidden(error: HubError, challenge: Challenge | undefined, attempt: number): Promise<void> {
    const { name } = this.config;
    const detail = error.detail ?? challenge?.errorDescription;
    if (challenge?.error !== "insufficient_scope") throw notAllowed({ server: name, detail, cause: error });
    const wanted = challenge.scope?.split(" ").filter((scope) => scope !== "") ?? [];
    const missing = wanted.filter((scope) => this.#token.held?.scopes.includes(scope) !== true);
    if (missing.length === 0 || !this.stepUps.mayAsk(missing)) {
      throw notAllowed({ server: name, detail, cause: error });
    }
    this.#challenge = challenge;
    this.stepUps.want(missing);
    if (this.#isMachine && attempt === 0) {
      this.stepUps.asked();
      return this.renew();
    }
    const loginUrl = this.#context.loginUrl(name);
    this.#context.onEvent(this, "required");
    throw scopeRequired({ server: name, principal: this.key.principal, loginUrl, missing, cause: error });
  }

  #next(): Renewable | undefined {
    const [record, { held }, state] = [this.#record, this.#token, this.#state];
    if (record?.refresh === undefined || held === undefined) return undefined;
    const { receivedAt } = record;
    // Also if the token looks valid: its server may have refused it.
    if (state.state === "retrying") return { renewAt: NOW, receivedAt, retryAt: state.until };
    return { renewAt: held.deadlines.renewAt, receivedAt, retryAt: 0 };
  }
}
