// The logins at all servers: gives each connection its credentials. `login-attempts.ts` takes people through a login.

import { hash } from "node:crypto";
import type { ServerConfig } from "../../config/schema/types.ts";
import { HubError, toHubError } from "../../errors.ts";
import type { Authorization } from "../../protocol/connect/authorization.ts";
import { LoginAttempts, type BeginOptions } from "./login-attempts.ts";
import { isSameAuth, notOAuth, usesOAuth } from "./login-rules.ts";
import { toLoginView, type LoginView } from "./login-view.ts";
import type { PendingLogin } from "./pending-logins.ts";
import type { LoginKey } from "../../secrets/login-store.ts";
import { LOCAL, ServerLogin, type LoginContext } from "./server-login.ts";

type Given = "store" | "clock" | "lookup" | "resolveAuth";

export interface LoginsOptions extends Pick<LoginContext, Given> {
  /** The secrets of one owner; an empty list removes them. */
  readonly setSecrets: (owner: object, values: readonly string[]) => void;
  readonly onEvent: (event: LoginEvent) => void;
  /** The server's address, with its variables filled in. */
  readonly urlOf: (config: ServerConfig, principal: string) => Promise<URL>;
  /** Tries to connect a server, to find out what it asks for. Its status has the result. */
  readonly connect: (server: string) => Promise<void>;
  /** A login was completed: the server can be connected. */
  readonly onCompleted: (server: string) => void;
  /** The login of a principal has ended, where each has one: nothing of it may stay open. */
  readonly onEnded: (server: string, principal: string) => void;
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
  /** By the id of the server's entry and the principal. */
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

  /**
   * The credentials for connections to a server, on behalf of a principal. Undefined if the entry does without OAuth. `isTrial`:
   * the entry is not saved.
   */
  authorizationFor(
    config: ServerConfig,
    url: URL,
    { isTrial = false, principal = LOCAL }: { readonly isTrial?: boolean; readonly principal?: string } = {},
  ): Authorization | undefined {
    if (!usesOAuth(config)) return undefined;
    const owner = ownerOf(config, principal);
    return isTrial ? this.#trialAt(config, url, owner) : this.#loginAt(config, url, owner);
  }

  /** Reads the stored login of a server that has not been connected yet. */
  async load(config: ServerConfig, principal: string = LOCAL): Promise<void> {
    if (usesOAuth(config)) await (await this.#loginOf(config, principal)).load();
  }

  /** Everyone who has a login at the server, or tries to get one. */
  async principals(config: ServerConfig): Promise<string[]> {
    if (config.auth?.per !== "user") return [LOCAL];
    const tried = [...this.#logins.values()].flatMap(({ key }) => (key.server === config.id ? [key.principal] : []));
    return [...new Set([...(await this.#options.store.principals(config.id)), ...tried])].toSorted();
  }

  /** The principal whose login lists what the server offers: the configured one, or else the first that is logged in. */
  async lister(config: ServerConfig): Promise<string> {
    const configured = config.auth?.listAs ?? LOCAL;
    if (config.auth?.per !== "user") return LOCAL;
    const { store } = this.#options;
    for (const principal of new Set([configured, LOCAL, ...(await store.principals(config.id))])) {
      const record = await store.read({ server: config.id, principal }).catch(() => undefined); // of no use
      if (record !== undefined && record.ended === undefined) return principal;
    }
    return configured;
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
    for (const principal of new Set([LOCAL, ...(await store.principals(config.id))])) {
      const key = { server: config.id, principal };
      // A record that cannot be read is deleted, too.
      const isStored = await store.read(key).then(
        (record) => record !== undefined,
        () => true,
      );
      const isInUse = ownerOf(config, principal) === principal;
      const remove = () => store.edit(key, (slot) => slot.delete());
      if (isStored) await (isInUse ? this.logout(config, principal).catch(remove) : remove());
    }
    this.removed(config.name);
  }

  #drop(login: ServerLogin): void {
    this.#attempts.cancelAll(login);
    login.stop();
    this.#logins.delete(idOf(login.key));
  }

  view(config: Pick<ServerConfig, "id" | "auth">, principal: string = LOCAL): LoginView | undefined {
    const login = this.#logins.get(idOf({ server: config.id, principal: ownerOf(config, principal) }));
    return login === undefined ? undefined : this.#viewOf(login);
  }

  /** The view of every login at a server that is known so far. */
  views({ id }: Pick<ServerConfig, "id">): LoginView[] {
    return [...this.#logins.values()].flatMap((login) => (login.key.server === id ? [this.#viewOf(login)] : []));
  }

  /** Previews a login: its authorization server and scopes. Registers and stores nothing. */
  async preview(config: ServerConfig, principal: string = LOCAL): Promise<LoginPreview> {
    const login = await this.#loginForPerson(config, principal);
    const requests = await login.requests();
    const isStepUp = login.stepUps.scopes.length > 0;
    return {
      redirectUri: this.#redirectUri(config),
      ...(await requests.preview({ challenge: login.challenge, record: login.record, isStepUp })),
    };
  }

  /** Begins a login. The person continues at its address, or enters its code. */
  async begin(config: ServerConfig, options: BeginOptions = {}, principal: string = LOCAL): Promise<PendingLogin> {
    if (!usesOAuth(config)) throw notOAuth(config);
    const redirectUri = this.#redirectUri(config, options.redirectHost);
    return this.#attempts.begin(await this.#loginForPerson(config, principal), redirectUri, options);
  }

  /** Gets new tokens now. */
  async refresh(config: ServerConfig, principal: string = LOCAL): Promise<LoginView> {
    const login = await this.#loginOf(config, principal);
    await login.load();
    if (!login.isMachine && login.record === undefined) throw login.needsLogin("required");
    await login.renew();
    return this.#viewOf(login);
  }

  /** Continues the login of another program, which was made with the client of the entry. */
  async takeOver(
    config: ServerConfig,
    { access = "", refresh }: TakenTokens,
    principal: string = LOCAL,
  ): Promise<LoginView> {
    if (config.auth?.clientId === undefined) {
      const message = "Tokens can be used only with the client that they were given to";
      throw new HubError("InvalidArgument", message, { field: "auth.client_id" });
    }
    const login = await this.#loginForPerson(config, principal);
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
  async logout(
    config: ServerConfig,
    principal: string = LOCAL,
  ): Promise<{ readonly revoked: boolean; readonly found: boolean }> {
    const login = await this.#loginOf(config, principal);
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
    if (config.auth?.per === "user") this.#options.onEnded(config.name, login.key.principal);
    if (record !== undefined) this.#emit(login, "revoked");
    return { revoked, found: record !== undefined };
  }

  async #loginOf(config: ServerConfig, principal: string): Promise<ServerLogin> {
    if (!usesOAuth(config)) throw notOAuth(config);
    return this.#loginAt(config, await this.#options.urlOf(config, principal), ownerOf(config, principal));
  }

  /** A changed entry gets a new object: nothing of the old one may be used for another address or client. */
  #loginAt(config: ServerConfig, url: URL, principal: string): ServerLogin {
    const id = idOf({ server: config.id, principal });
    const known = this.#logins.get(id);
    if (known?.config === config || (known !== undefined && isSameAuth(known, config, url))) return known;
    for (const login of this.#logins.values()) {
      // Those of other people at the entry as it is now stay.
      if (login.key.server === config.id && (login === known || login.config.auth?.per !== config.auth?.per))
        this.#drop(login);
    }
    const login = this.#create(config, url, {
      principal,
      loginUrl: (server) => this.#loginUrl(server, principal),
      onEvent: (each, what) => this.#emit(each, what),
    });
    this.#logins.set(id, login);
    if (this.#isRunning) login.run();
    return login;
  }

  /** An entry that is tried out has no page and no events, and leaves the login of a saved server alone. */
  #trialAt(config: ServerConfig, url: URL, principal: string): ServerLogin {
    const known = this.#logins.get(idOf({ server: config.id, principal }));
    if (known !== undefined && isSameAuth(known, config, url)) return known;
    const login = this.#create(config, url, { principal, loginUrl: () => undefined, onEvent: () => undefined });
    this.#trials.push(login);
    if (this.#trials.length > MAX_TRIALS) this.#trials.shift()?.stop();
    return login;
  }

  #create(config: ServerConfig, url: URL, own: Pick<LoginContext, "principal" | "loginUrl" | "onEvent">): ServerLogin {
    const { store, clock, lookup, resolveAuth } = this.#options;
    const onSecrets = (owner: object, values: readonly string[]) => this.#keepSecret(owner, values);
    return new ServerLogin(config, url, { store, clock, lookup, resolveAuth, onSecrets, ...own });
  }

  /** The login of a server of which it is known what it asks for. */
  async #loginForPerson(config: ServerConfig, principal: string): Promise<ServerLogin> {
    const login = await this.#loginOf(config, principal);
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

  /** The link of a person works for that person only. */
  #loginUrl(server: string, principal: string): string | undefined {
    if (this.#baseUrl === undefined) return undefined;
    const page = `${this.#baseUrl.publicUrl ?? this.#baseUrl.url}/connect/${encodeURIComponent(server)}`;
    return principal === LOCAL ? page : `${page}?for=${linkOf(principal)}`;
  }

  /** Authorization servers compare it as text with what was registered, so it does not depend on how the hub is reached. */
  #redirectUri({ auth }: ServerConfig, host = "localhost"): string {
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
    return `http://${auth?.redirectHost ?? host}:${port}/oauth/callback`;
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

/** Whose login a request of a principal uses: its own, or the one that all callers of the server share. Never another's. */
export function ownerOf({ auth }: Pick<ServerConfig, "auth">, principal: string): string {
  return auth?.per === "user" ? principal : LOCAL;
}

/** Tells in a link whom it is for, without a name. */
export function linkOf(principal: string): string {
  return hash("sha256", principal, "base64url").slice(0, 22);
}

function idOf({ server, principal }: LoginKey): string {
  return JSON.stringify([server, principal]);
}
