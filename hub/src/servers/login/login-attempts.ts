// Attempts of people to log in: the way to the authorization server and back, or the code that they enter there, until the tokens are
// stored.

import { HubError, toHubError } from "../../errors.ts";
import type { TokenSet } from "../../oauth/types.ts";
import type { LoginStore } from "../../secrets/login-store.ts";
import type { Clock } from "./clock.ts";
import { toRecord } from "./login-record.ts";
import { isScopeRefusal, OFFLINE, offlineRefused } from "./login-rules.ts";
import type { LoginEventName } from "./login-state.ts";
import type { PreparedLogin } from "./oauth-client.ts";
import { PendingLogins, type FinishingBrowser, type PendingLogin } from "./pending-logins.ts";
import type { ServerLogin } from "./server-login.ts";

interface AttemptsContext {
  readonly store: LoginStore;
  readonly clock: Clock;
  readonly onSecrets: (owner: object, values: readonly string[]) => void;
  readonly onEvent: (login: ServerLogin, what: LoginEventName) => void;
  /** A login was completed: the server can be connected. */
  readonly onCompleted: (server: string) => void;
}

export interface BeginOptions {
  readonly scopes?: readonly string[] | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly issuer?: string | undefined;
  readonly flow?: "browser" | "device" | undefined;
  /** Default: any. */
  readonly browser?: FinishingBrowser | undefined;
  /** The name of this machine under which the person's browser knows the hub. Default: `localhost`. */
  readonly redirectHost?: string | undefined;
}

export class LoginAttempts {
  readonly #context: AttemptsContext;
  readonly #pending: PendingLogins;
  /** Issuers that list offline_access and refuse it. */
  readonly #withoutOffline = new Set<string>();

  constructor(context: AttemptsContext) {
    this.#context = context;
    this.#pending = new PendingLogins(({ login }) => context.onEvent(login, "failed"));
  }

  find(id: string): PendingLogin {
    const pending = this.#pending.find(id);
    if (pending !== undefined) return pending;
    throw new HubError("LoginNotFound", "There is no such login, or it has ended", { hint: "plugboard auth SERVER" });
  }

  /** The login that waits for a callback with this state. Undefined: none does. */
  findByState(state: string): PendingLogin | undefined {
    return this.#pending.findByState(state);
  }

  /** The redirect URIs of open logins. */
  get redirectUris(): string[] {
    return this.#pending.open.flatMap(({ flow }) => (flow.flow === "browser" ? [flow.request.redirectUri] : []));
  }

  isPending(login: ServerLogin): boolean {
    return this.#pending.ofServer(login) !== undefined;
  }

  async begin(login: ServerLogin, redirectUri: string, options: BeginOptions): Promise<PendingLogin> {
    const prepared = await this.prepare(login, redirectUri, options);
    const pending =
      options.flow === "device"
        ? await this.#beginDevice(login, prepared)
        : await this.#beginBrowser(login, prepared, options);
    login.stepUps.asked();
    this.#context.onEvent(login, "started");
    return pending;
  }

  /**
   * The browser came back, or a person pasted the address that it came back with. `id`: the login that it must belong to.
   * Undefined: no login waits for this callback.
   */
  async callback(url: URL, id?: string): Promise<PendingLogin | undefined> {
    const state = url.searchParams.get("state") ?? "";
    const pending = this.#pending.findByState(state);
    if (pending === undefined || (id !== undefined && pending.id !== id)) return undefined;
    this.#pending.useState(state);
    const { login, prepared, flow } = pending;
    if (flow.flow !== "browser" || pending.progress.state !== "pending") return undefined;
    const code = url.searchParams.get("code");
    this.#context.onSecrets(pending, [flow.request.verifier, flow.request.state, ...(code === null ? [] : [code])]);
    try {
      const requests = await login.requests();
      await this.#complete(pending, await requests.complete(prepared, flow.request, url));
    } catch (thrown) {
      this.#failed(pending, toHubError(thrown));
    }
    return pending;
  }

  cancel(id: string): void {
    const pending = this.find(id);
    if (this.#pending.end(id, new HubError("LoginFailed", "The login was cancelled")))
      this.#context.onEvent(pending.login, "failed");
  }

  /** Ends the attempts at one server, or all. */
  cancelAll(login?: ServerLogin): void {
    this.#pending.cancel(login);
  }

  async prepare(login: ServerLogin, redirectUri: string, options: BeginOptions = {}): Promise<PreparedLogin> {
    const requests = await login.requests();
    const { clientId, clientSecret, scopes, issuer } = options;
    const prepare = (offlineAccess: boolean | undefined) =>
      requests.prepare({
        challenge: login.challenge,
        redirectUri,
        record: login.record,
        flow: options.flow ?? "browser",
        scopes,
        issuer,
        client: clientId === undefined ? undefined : { id: clientId, secret: clientSecret },
        isStepUp: login.stepUps.scopes.length > 0,
        offlineAccess,
      });
    const prepared = await prepare(undefined);
    return this.#withoutOffline.has(prepared.discovery.issuer) ? prepare(false) : prepared;
  }

  async #beginBrowser(
    login: ServerLogin,
    prepared: PreparedLogin,
    { browser = "any" }: BeginOptions,
  ): Promise<PendingLogin> {
    const requests = await login.requests();
    const request = await requests.request(prepared);
    const pending = this.#pending.add(login, prepared, { flow: { flow: "browser", request }, browser });
    this.#context.onSecrets(pending, [request.verifier, request.state]);
    return pending;
  }

  async #beginDevice(login: ServerLogin, prepared: PreparedLogin): Promise<PendingLogin> {
    const requests = await login.requests();
    const device = await requests.startDevice(prepared);
    const pending = this.#pending.add(login, prepared, { flow: { flow: "device", device }, browser: "none" });
    this.#context.onSecrets(pending, [device.deviceCode]);
    requests.pollDevice(prepared, device, pending.signal).then(
      (tokens) => this.#complete(pending, tokens).catch((thrown: unknown) => this.#failed(pending, toHubError(thrown))),
      (thrown: unknown) => this.#failed(pending, toHubError(thrown)),
    );
    return pending;
  }

  async #complete(pending: PendingLogin, tokens: TokenSet): Promise<void> {
    const { login, prepared } = pending;
    await this.store(login, prepared, tokens);
    login.stepUps.clear();
    this.#pending.end(pending.id);
    this.#context.onSecrets(pending, []);
    this.#context.onEvent(login, "completed");
    this.#context.onCompleted(login.config.name);
  }

  /** The record is on disk before it is used. */
  async store(login: ServerLogin, prepared: PreparedLogin, tokens: TokenSet): Promise<void> {
    const record = await this.#context.store.edit(login.key, async (slot) => {
      const earlier = await slot.read().catch(() => undefined); // a damaged record is replaced
      const made = toRecord(login, prepared, tokens, { now: this.#context.clock.now(), earlier });
      await slot.write(made);
      return made;
    });
    login.adopt(record);
  }

  #failed(pending: PendingLogin, error: HubError): void {
    const { discovery, scopes } = pending.prepared;
    const isOffline = scopes.includes(OFFLINE) && "failure" in error && isScopeRefusal(error.failure);
    if (isOffline) this.#withoutOffline.add(discovery.issuer);
    this.#context.onSecrets(pending, []);
    const reason = isOffline ? offlineRefused(pending.login.config, error) : error;
    if (this.#pending.end(pending.id, reason)) this.#context.onEvent(pending.login, "failed");
  }
}
