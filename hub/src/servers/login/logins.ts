// The logins at all servers: gives each connection its credentials. `login-attempts.ts` takes people through a login.

import type { ServerConfig } from "../../config/schema/types.ts";
import { HubError, toHubError } from "../../errors.ts";
import type { Authorization } from "../../protocol/connect/authorization.ts";
import { LoginAttempts, type BeginOptions } from "./login-attempts.ts";
import { isSameAuth, notOAuth, usesOAuth } from "./login-rules.ts";
import { toLoginView, type LoginView } from "./login-view.ts";
import type { PendingLogin } from "./pending-logins.ts";
import { LOCAL, ServerLogin, type LoginContext } from "./server-login.ts";

export interface LoginsOptions extends Omit<LoginContext, "onEvent" | "loginUrl" | "onSecrets"> {
  /** The secrets of one owner; an empty list removes them. */
  readonly setSecrets: (owner: object, values: readonly string[]) => void;
  readonly onEvent: (event: LoginEvent) => void;
  /** The server's address, with its variables filled in. */
  readonly urlOf: (config: ServerConfig) => Promise<URL>;
  /** Tries to connect a server, to find out what it asks for. Its status has the result. */
  readonly connect: (server: string) => Promise<void>;
  /** A login was completed: the server can be connected. */
  readonly onCompleted: (server: string) => void;
}

export interface LoginEvent {
  readonly server: string;
  readonly principal: string;
  readonly what: Parameters<LoginContext["onEvent"]>[1];
  readonly view: LoginView;
}

/** Tokens that another program has got. */
export interface TakenTokens {
  readonly access?: string | undefined;
  readonly refresh?: string | undefined;
}

export interface LoginPreview {
  readonly issuer: string;
  /** Host of the page where the person logs in. */
  readonly authorizationServer: string;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
}

/** How long a replaced token is still treated as a secret: a late message may contain it. */
const OLD_SECRETS_MS = 60_000;
const MAX_TRIALS = 10;
/** Nothing is sent to it. */
const REDIRECT_ANYWHERE = "http://localhost/oauth/callback";

/** Where browsers reach the hub. */
export interface HubAddress {
  /** Of its listener. */
  readonly url: string;
  readonly publicUrl?: string | undefined;
}

export class Logins {
  readonly #options: LoginsOptions;
  /** By the id of the server's entry. */
  readonly #logins = new Map<string, ServerLogin>();
  readonly #attempts: LoginAttempts;
  readonly #secrets = new Map<object, readonly string[]>();
  /** The last logins of entries that were tried out: what they received stays secret for a while. */
  readonly #trials: ServerLogin[] = [];
  #isRunning = false;
  #baseUrl: HubAddress | undefined;

  constructor(options: LoginsOptions) {
    this.#options = options;
    const { store, clock, onCompleted } = options;
    this.#attempts = new LoginAttempts({
      store,
      clock,
      onSecrets: (owner, values) => this.#keepSecret(owner, values),
      onEvent: (login, what) => this.#emit(login, what),
      onCompleted,
    });
  }

  /** The logins that people are asked to complete. */
  get attempts(): Pick<LoginAttempts, "find" | "findByState" | "redirectUris" | "callback" | "cancel"> {
    return this.#attempts;
  }

  /** Where the browser comes back to. */
  set baseUrl(address: HubAddress | undefined) {
    this.#baseUrl = address;
  }

  /** Renews logins in the background from now on. */
  run(): void {
    this.#isRunning = true;
    for (const login of this.#logins.values()) login.run();
  }

  close(): void {
    this.#isRunning = false;
    this.#attempts.cancelAll();
    for (const login of [...this.#logins.values(), ...this.#trials]) login.stop();
  }

  /** The credentials for connections to a server. Undefined if the entry does without OAuth. `isTrial`: the entry is not saved. */
  authorizationFor(config: ServerConfig, url: URL, { isTrial = false } = {}): Authorization | undefined {
    if (!usesOAuth(config)) return undefined;
    return isTrial ? this.#trialAt(config, url) : this.#loginAt(config, url);
  }

  /** Reads the stored login of a server that has not been connected yet. */
  async load(config: ServerConfig): Promise<void> {
    if (usesOAuth(config)) await (await this.#loginOf(config)).load();
  }

  /** The server was removed from the config. Its stored login stays until it is logged out. */
  removed(server: string): void {
    for (const login of this.#logins.values()) {
      if (login.config.name === server) this.#drop(login);
    }
  }

  /** The server was deleted: logs it out, and forgets its login even if it cannot be logged out. */
  async forget(config: ServerConfig): Promise<void> {
    if (config.transport.type === "stdio") return;
    const { store } = this.#options;
    const key = { server: config.id, principal: LOCAL };
    // A record that cannot be read is deleted, too.
    const isStored = await store.read(key).then(
      (record) => record !== undefined,
      () => true,
    );
    if (isStored) await this.logout(config).catch(() => store.edit(key, (slot) => slot.delete()));
    this.removed(config.name);
  }

  #drop(login: ServerLogin): void {
    this.#attempts.cancelAll(login);
    login.stop();
    this.#logins.delete(login.config.id);
  }

  view({ id }: Pick<ServerConfig, "id">): LoginView | undefined {
    const login = this.#logins.get(id);
    return login === undefined ? undefined : this.#viewOf(login);
  }

  /** Previews a login: its authorization server and scopes. Registers and stores nothing. */
  async preview(config: ServerConfig): Promise<LoginPreview> {
    const login = await this.#loginForPerson(config);
    const requests = await login.requests();
    const isStepUp = login.stepUps.scopes.length > 0;
    return {
      redirectUri: this.#redirectUri(config),
      ...(await requests.preview({ challenge: login.challenge, record: login.record, isStepUp })),
    };
  }

  /** Begins a login. The person continues at its address, or enters its code. */
  async begin(config: ServerConfig, options: BeginOptions = {}): Promise<PendingLogin> {
    if (!usesOAuth(config)) throw notOAuth(config);
    const redirectUri = this.#redirectUri(config);
    return this.#attempts.begin(await this.#loginForPerson(config), redirectUri, options);
  }

  /** Gets new tokens now. */
  async refresh(config: ServerConfig): Promise<LoginView> {
    const login = await this.#loginOf(config);
    await login.load();
    if (!login.isMachine && login.record === undefined) throw login.needsLogin("required");
    await login.renew();
    return this.#viewOf(login);
  }

  /** Continues the login of another program, which was made with the client of the entry. */
  async takeOver(config: ServerConfig, { access = "", refresh }: TakenTokens): Promise<LoginView> {
    if (config.auth?.clientId === undefined) {
      const message = "Tokens can be used only with the client that they were given to";
      throw new HubError("InvalidArgument", message, { field: "auth.client_id" });
    }
    const login = await this.#loginForPerson(config);
    const redirectUri = this.#baseUrl === undefined ? REDIRECT_ANYWHERE : this.#redirectUri(config);
    const prepared = await this.#attempts.prepare(login, redirectUri);
    await this.#attempts.store(login, prepared, {
      access,
      type: "Bearer",
      ...(refresh === undefined ? {} : { refresh }),
    });
    try {
      // From now on the other program's refresh token may be of no use: it is better to know at once that ours works.
      if (refresh !== undefined) await login.renew();
    } catch (error) {
      if (toHubError(error).code === "UNAUTHENTICATED")
        await this.#options.store.edit(login.key, (slot) => slot.delete());
      throw error;
    }
    this.#emit(login, "completed");
    this.#options.onCompleted(config.name);
    return this.#viewOf(login);
  }

  /** Revokes the tokens where that is possible, and forgets them. */
  async logout(config: ServerConfig): Promise<{ readonly revoked: boolean; readonly found: boolean }> {
    const login = await this.#loginOf(config);
    this.#attempts.cancelAll(login);
    await login.load();
    const { record } = login;
    let revoked = false;
    if (record !== undefined) {
      const requests = await login.requests();
      // Forgotten in any case: the authorization server may no longer exist.
      revoked = await requests.revoke(record).catch(() => false);
    }
    await this.#options.store.edit(login.key, (slot) => slot.delete());
    login.end();
    if (record !== undefined) this.#emit(login, "revoked");
    return { revoked, found: record !== undefined };
  }

  async #loginOf(config: ServerConfig): Promise<ServerLogin> {
    if (!usesOAuth(config)) throw notOAuth(config);
    return this.#loginAt(config, await this.#options.urlOf(config));
  }

  /** A changed entry gets a new object: nothing of the old one may be used for another address or client. */
  #loginAt(config: ServerConfig, url: URL): ServerLogin {
    const known = this.#logins.get(config.id);
    if (known?.config === config || (known !== undefined && isSameAuth(known, config, url))) return known;
    if (known !== undefined) this.#drop(known);
    const login = this.#create(config, url, {
      loginUrl: (server) => this.#loginUrl(server),
      onEvent: (each, what) => this.#emit(each, what),
    });
    this.#logins.set(config.id, login);
    if (this.#isRunning) login.run();
    return login;
  }

  /** An entry that is tried out has no page and no events, and leaves the login of a saved server alone. */
  #trialAt(config: ServerConfig, url: URL): ServerLogin {
    const known = this.#logins.get(config.id);
    if (known !== undefined && isSameAuth(known, config, url)) return known;
    const login = this.#create(config, url, { loginUrl: () => undefined, onEvent: () => undefined });
    this.#trials.push(login);
    if (this.#trials.length > MAX_TRIALS) this.#trials.shift()?.stop();
    return login;
  }

  #create(config: ServerConfig, url: URL, events: Pick<LoginContext, "loginUrl" | "onEvent">): ServerLogin {
    const { store, clock, lookup, resolveAuth } = this.#options;
    const onSecrets = (owner: object, values: readonly string[]) => this.#keepSecret(owner, values);
    return new ServerLogin(config, url, { store, clock, lookup, resolveAuth, onSecrets, ...events });
  }

  /** The login of a server of which it is known what it asks for. */
  async #loginForPerson(config: ServerConfig): Promise<ServerLogin> {
    const login = await this.#loginOf(config);
    if (login.isMachine) {
      const message = `The login at "${config.name}" is made by its configuration, without a person`;
      throw new HubError("InvalidArgument", message, { hint: `plugboard auth refresh ${config.name}` });
    }
    await login.load();
    if (login.challenge === undefined && login.record === undefined) await this.#options.connect(config.name);
    return login;
  }

  #viewOf(login: ServerLogin): LoginView {
    return toLoginView(login, { isPending: this.#attempts.isPending(login) });
  }

  #emit(login: ServerLogin, what: LoginEvent["what"]): void {
    const { config, key } = login;
    this.#options.onEvent({ server: config.name, principal: key.principal, what, view: this.#viewOf(login) });
  }

  #loginUrl(server: string): string | undefined {
    return this.#baseUrl === undefined
      ? undefined
      : `${this.#baseUrl.publicUrl ?? this.#baseUrl.url}/connect/${encodeURIComponent(server)}`;
  }

  /** Authorization servers compare it as text with what was registered, so it does not depend on how the hub is reached. */
  #redirectUri({ auth }: ServerConfig): string {
    if (this.#baseUrl === undefined) {
      throw new HubError("ServerNotRunning", "A login needs the hub's address for the browser to come back to", {
        hint: "Start the hub: plugboard up",
      });
    }
    const { url, publicUrl } = this.#baseUrl;
    // A server that wants a certain address was registered with it.
    const isFixed = auth?.redirectPort !== undefined || auth?.redirectHost !== undefined;
    if (publicUrl !== undefined && !isFixed) return `${publicUrl}/oauth/callback`;
    const port = auth?.redirectPort ?? new URL(url).port;
    return `http://${auth?.redirectHost ?? "localhost"}:${port}/oauth/callback`;
  }

  /** Replaced values stay secret for a minute. */
  #keepSecret(owner: object, values: readonly string[]): void {
    const { setSecrets } = this.#options;
    const old = (this.#secrets.get(owner) ?? []).filter((value) => !values.includes(value));
    if (values.length === 0) this.#secrets.delete(owner);
    else this.#secrets.set(owner, values);
    setSecrets(owner, values);
    if (old.length === 0) return;
    const replaced = {};
    setSecrets(replaced, old);
    setTimeout(() => setSecrets(replaced, []), OLD_SECRETS_MS).unref();
  }
}
