// Commands on logins at servers, shared by REST, the admin endpoint and the CLI.

import { OWNER } from "../../../auth/grant.ts";
import { may, type Rights } from "../../../auth/policy.ts";
import type { ServerConfig } from "../../../config/schema/types.ts";
import { HubError } from "../../../errors.ts";
import { usesOAuth } from "../../../servers/login/login-rules.ts";
import type { BeginOptions } from "../../../servers/login/login-attempts.ts";
import { linkOf, ownerOf } from "../../../servers/login/logins.ts";
import type { PendingLogin } from "../../../servers/login/pending-logins.ts";
import type { Login, LoginAttempt, LoginInput, Logout, TakenLogin } from "../../schemas/login.ts";
import type { Core, Managed } from "../core.ts";
import { actingFor, mayReach, notTheirs } from "./on-behalf.ts";

/** The browser from whose page a login is begun. */
type BrowserVia = Pick<BeginOptions, "browser" | "redirectHost">;

export class LoginCommands {
  readonly #hub: Core;

  constructor({ hub }: Pick<Managed, "hub">) {
    this.#hub = hub;
  }

  /** At all servers at which the hub may log in: those of the caller, and all for someone who manages the hub. */
  async list(rights: Rights): Promise<Login[]> {
    const { supervisor } = this.#hub;
    const views = await Promise.all(supervisor.servers.map(({ config }) => loginsAt(this.#hub, config)));
    return views.flat().filter(({ principal }) => may(rights, { to: "handle", owner: principal, as: "operator" }));
  }

  /** Begins a login. */
  async begin(id: string, rights: Rights, input: LoginInput = {}, via: BrowserVia = {}): Promise<LoginAttempt> {
    const { scopes, client_id: clientId, client_secret: clientSecret, issuer, flow, as, link } = input;
    if (clientSecret !== undefined && clientId === undefined) {
      throw new HubError("InvalidArgument", "A client secret needs its client id", { field: "client_id" });
    }
    if (rights.principal !== OWNER) this.#hub.rates.take("server_logins", rights.principal);
    const { config, owner } = await this.#loginOf(id, rights, as);
    if (link !== undefined && link !== linkOf(owner)) {
      // Written first: a browser may have been sent here.
      await this.#hub.audit.record({ by: rights, action: "auth.refused", object: config.name, outcome: "refused" });
      throw new HubError("Forbidden", "This link to log in is for another person", {
        hint: "Each person has a link of their own: call the tool yourself",
      });
    }
    const browser = via.browser ?? (rights.role === "admin" ? "any" : "none");
    const options = { scopes, clientId, clientSecret, issuer, flow, browser, redirectHost: via.redirectHost };
    return toAttempt(await this.#hub.logins.begin(config, options, owner));
  }

  find(id: string, rights: Rights): LoginAttempt {
    return toAttempt(this.#attempt(id, rights));
  }

  /** Continues with an address that a person copied from the browser. */
  async callback(id: string, rights: Rights, address: string): Promise<LoginAttempt> {
    const pending = this.#attempt(id, rights);
    if (pending.progress.state !== "pending") return toAttempt(pending);
    const url = parseCallback(address, pending);
    const found = await this.#hub.logins.attempts.callback(url, id);
    if (found !== undefined) return toAttempt(found);
    throw new HubError("InvalidArgument", "The address does not belong to this login", {
      field: "url",
      hint: "Paste the complete address that the browser shows after the login",
    });
  }

  cancel(id: string, rights: Rights): void {
    this.#hub.logins.attempts.cancel(this.#attempt(id, rights).id);
  }

  async refresh(id: string, rights: Rights, as?: string): Promise<Login> {
    const { config, owner } = await this.#loginOf(id, rights, as);
    return toLogin(await this.#hub.logins.refresh(config, owner));
  }

  /** Continues the login of another program. */
  async takeOver(id: string, rights: Rights, tokens: TakenLogin, as?: string): Promise<Login> {
    const { access_token: access, refresh_token: refresh } = tokens;
    if (access === undefined && refresh === undefined) {
      throw new HubError("InvalidArgument", "Neither an access token nor a refresh token is given");
    }
    const { config, owner } = await this.#loginOf(id, rights, as);
    return toLogin(await this.#hub.logins.takeOver(config, { access, refresh }, owner));
  }

  async logout(id: string, rights: Rights, as?: string): Promise<Logout> {
    const { config, owner } = await this.#loginOf(id, rights, as);
    return { server: config.name, ...(await this.#hub.logins.logout(config, owner)) };
  }

  /** The login that all callers of a server share needs the role operator, that of another person the role admin. */
  async #loginOf(
    id: string,
    rights: Rights,
    as: string | undefined,
  ): Promise<{ readonly config: ServerConfig; readonly owner: string }> {
    const { config } = this.#hub.supervisor.get(id);
    if (!mayReach(this.#hub, rights, config.name)) throw serverNotFound(id);
    const principal = await actingFor(this.#hub, rights, as);
    const owner = ownerOf(config, principal);
    if (owner !== principal && as !== undefined && as !== "me") throw sharedLogin(config, as);
    if (!may(rights, { to: "handle", owner, as: owner === principal ? "admin" : "operator" })) throw notTheirs();
    return { config, owner };
  }

  /** An attempt of another person is as unknown as one that never was. */
  #attempt(id: string, rights: Rights): PendingLogin {
    const pending = this.#hub.logins.attempts.find(id);
    if (may(rights, { to: "handle", owner: pending.login.key.principal, as: "operator" })) return pending;
    throw new HubError("LoginNotFound", "There is no such login, or it has ended");
  }
}

function sharedLogin({ name }: ServerConfig, as: string): HubError {
  return new HubError("InvalidArgument", `All callers of "${name}" share one login, so ${as} has none`, {
    field: "as",
    hint: `For a login each: plugboard edit ${name} '{"auth": {"per": "user"}}'`,
  });
}

function serverNotFound(id: string): HubError {
  return new HubError("ServerNotFound", `There is no server "${id}"`);
}

/** All logins at a server, each by its principal. Reads those that were not used yet. */
export async function loginsAt({ logins }: Pick<Core, "logins">, config: ServerConfig): Promise<Login[]> {
  if (config.invalid !== undefined || !usesOAuth(config)) return [];
  for (const principal of await logins.principals(config)) {
    // An entry with a missing variable has no address, and no login either.
    if (logins.view(config, principal) === undefined) await logins.load(config, principal).catch(() => undefined);
  }
  return logins.views(config).map(toLogin);
}

/**
 * The login that a request of a principal uses. Null for a program, and for an entry that has its own credentials. Reads the
 * stored login of a server that was not connected yet.
 */
export async function loginOf(
  { logins }: Pick<Core, "logins">,
  config: ServerConfig,
  principal: string = OWNER,
): Promise<Login | null> {
  if (config.invalid !== undefined || !usesOAuth(config)) return null;
  // An entry with a missing variable has no address, and no login either.
  if (logins.view(config, principal) === undefined) await logins.load(config, principal).catch(() => undefined);
  const view = logins.view(config, principal);
  return view === undefined ? null : toLogin(view);
}

function toLogin({ scopes, ...view }: ReturnType<Core["logins"]["view"]> & object): Login {
  return { ...view, ...(scopes === undefined ? {} : { scopes: [...scopes] }) };
}

function toAttempt({ id, login, prepared, flow, expiresAt, progress }: PendingLogin): LoginAttempt {
  const { issuer } = prepared.discovery;
  const attempt = {
    id,
    server: login.config.name,
    principal: login.key.principal,
    state: progress.state,
    error: progress.state === "failed" ? progress.error.toJSON() : null,
    issuer,
    scopes: [...prepared.scopes],
    expires_at: new Date(expiresAt).toISOString(),
  };
  if (flow.flow === "browser") {
    const { url, redirectUri } = flow.request;
    const authorization_server = new URL(url).host;
    return { ...attempt, flow: "browser", url, redirect_uri: redirectUri, authorization_server };
  }
  const { userCode, verificationUri, verificationUriComplete } = flow.device;
  return {
    ...attempt,
    flow: "device",
    authorization_server: new URL(verificationUri).host,
    user_code: userCode,
    verification_uri: verificationUri,
    ...(verificationUriComplete === undefined ? {} : { verification_uri_complete: verificationUriComplete }),
  };
}

/** The whole address, or only its query: some browsers make it hard to copy the rest. */
function parseCallback(address: string, { flow }: PendingLogin): URL {
  if (flow.flow !== "browser") {
    throw new HubError("InvalidArgument", "This login has a code and no address to paste", { field: "url" });
  }
  const { redirectUri } = flow.request;
  const text = address.trim();
  const url = URL.canParse(text, redirectUri) ? new URL(text, redirectUri) : undefined;
  if (url !== undefined && url.searchParams.has("state")) return url;
  throw new HubError("InvalidArgument", "This is not the address at which the login ended", {
    field: "url",
    hint: `It begins with ${redirectUri}?`,
  });
}
