// Commands on logins at servers, shared by REST, the admin endpoint and the CLI.

import type { ServerConfig } from "../../../config/schema/types.ts";
import { HubError } from "../../../errors.ts";
import { usesOAuth } from "../../../servers/login/login-rules.ts";
import type { PendingLogin } from "../../../servers/login/pending-logins.ts";
import type { Login, LoginAttempt, LoginInput, Logout, TakenLogin } from "../../schemas/login.ts";
import type { Core, Managed } from "../core.ts";

export class LoginCommands {
  readonly #hub: Core;

  constructor({ hub }: Pick<Managed, "hub">) {
    this.#hub = hub;
  }

  /** Of all servers at which the hub may log in. */
  async list(): Promise<Login[]> {
    const { supervisor } = this.#hub;
    const views = await Promise.all(supervisor.servers.map(({ config }) => loginOf(this.#hub, config)));
    return views.filter((view) => view !== null);
  }

  /** Begins a login. */
  async begin(id: string, input: LoginInput = {}): Promise<LoginAttempt> {
    const { scopes, client_id: clientId, client_secret: clientSecret, issuer, flow } = input;
    if (clientSecret !== undefined && clientId === undefined) {
      throw new HubError("InvalidArgument", "A client secret needs its client id", { field: "client_id" });
    }
    const options = { scopes, clientId, clientSecret, issuer, flow };
    return toAttempt(await this.#hub.logins.begin(this.#config(id), options));
  }

  find(id: string): LoginAttempt {
    return toAttempt(this.#hub.logins.attempts.find(id));
  }

  /** Continues with an address that a person copied from the browser. */
  async callback(id: string, address: string): Promise<LoginAttempt> {
    const pending = this.#hub.logins.attempts.find(id);
    if (pending.progress.state !== "pending") return toAttempt(pending);
    const url = parseCallback(address, pending);
    const found = await this.#hub.logins.attempts.callback(url, id);
    if (found !== undefined) return toAttempt(found);
    throw new HubError("InvalidArgument", "The address does not belong to this login", {
      field: "url",
      hint: "Paste the complete address that the browser shows after the login",
    });
  }

  cancel(id: string): void {
    this.#hub.logins.attempts.cancel(id);
  }

  async refresh(id: string): Promise<Login> {
    return toLogin(await this.#hub.logins.refresh(this.#config(id)));
  }

  /** Continues the login of another program. */
  async takeOver(id: string, { access_token: access, refresh_token: refresh }: TakenLogin): Promise<Login> {
    if (access === undefined && refresh === undefined) {
      throw new HubError("InvalidArgument", "Neither an access token nor a refresh token is given");
    }
    return toLogin(await this.#hub.logins.takeOver(this.#config(id), { access, refresh }));
  }

  async logout(id: string): Promise<Logout> {
    const config = this.#config(id);
    return { server: config.name, ...(await this.#hub.logins.logout(config)) };
  }

  #config(id: string): ServerConfig {
    return this.#hub.supervisor.get(id).config;
  }
}

/** Null for a program, and for an entry that has its own credentials. Reads the stored login of a server that was not connected yet. */
export async function loginOf({ logins }: Pick<Core, "logins">, config: ServerConfig): Promise<Login | null> {
  if (config.invalid !== undefined || !usesOAuth(config)) return null;
  // An entry with a missing variable has no address, and no login either.
  if (logins.view(config) === undefined) await logins.load(config).catch(() => undefined);
  const view = logins.view(config);
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
