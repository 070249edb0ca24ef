// The part of the client about logins at remote servers.

import type { Login, LoginAttempt, LoginInput, Logout, TakenLogin } from "../schemas/login.ts";
import type { Connection } from "./connection.ts";
import { serverPath } from "./request-parts.ts";

/** Another principal than the caller, which needs the role admin. */
export interface OnBehalf {
  readonly as?: string | undefined;
}

export class LoginsClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  /** Begins a login. The person continues at its `url`, or enters its `user_code`. */
  begin(id: string, input: LoginInput = {}): Promise<LoginAttempt> {
    return this.#hub.request(`${serverPath(id)}/login`, { method: "POST", body: { ...input } });
  }

  /** Revokes the tokens if that is possible, and forgets them. */
  logout(id: string, { as }: OnBehalf = {}): Promise<Logout> {
    return this.#hub.request(`${serverPath(id)}/login`, { method: "DELETE", query: { as } });
  }

  refresh(id: string, { as }: OnBehalf = {}): Promise<Login> {
    return this.#hub.request(`${serverPath(id)}/login/refresh`, { method: "POST", query: { as } });
  }

  /** Continues the login of another program, which used the client of the entry. */
  import(id: string, tokens: TakenLogin): Promise<Login> {
    return this.#hub.request(`${serverPath(id)}/login/import`, { method: "POST", body: { ...tokens } });
  }

  list(): Promise<Login[]> {
    return this.#hub.request("/logins");
  }

  getAttempt(id: string): Promise<LoginAttempt> {
    return this.#hub.request(attempt(id));
  }

  /** Finishes an attempt with the address at which the browser arrived. */
  finish(id: string, url: string): Promise<LoginAttempt> {
    return this.#hub.request(`${attempt(id)}/callback`, { method: "POST", body: { url } });
  }

  cancel(id: string): Promise<void> {
    return this.#hub.request(attempt(id), { method: "DELETE" });
  }
}

const attempt = (id: string) => `/logins/${encodeURIComponent(id)}`;
