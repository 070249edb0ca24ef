// The view of a login for the API, the CLI and events. Never contains a token.

import type { ErrorBody } from "../../errors.ts";
import type { ServerLogin } from "./server-login.ts";

export interface LoginView {
  readonly server: string;
  readonly principal: string;
  /**
   * `none`: the server has never asked for a login. `retrying`: the authorization server cannot be reached, the login itself is
   * intact.
   */
  readonly state: "connected" | "needs_login" | "pending" | "retrying" | "none";
  /** `person`, or `machine` for logins that the config describes completely. */
  readonly by: "person" | "machine";
  readonly issuer?: string;
  readonly account?: string;
  readonly scopes?: readonly string[];
  readonly resource?: string;
  readonly client_id?: string;
  readonly registered?: "configured" | "metadata_document" | "registered";
  readonly expires_at?: string;
  readonly renewed_at?: string;
  /** Whether it lasts longer than its access token. */
  readonly renewable?: boolean;
  readonly error?: ErrorBody;
  readonly login_url?: string;
}

/** Undefined if the server has nothing to do with logins so far. */
export function toLoginView(login: ServerLogin, { isPending }: { readonly isPending: boolean }): LoginView {
  const { config, key, record, state, expiresAt } = login;
  const error = state.state === "needs_login" || state.state === "retrying" ? state.error : undefined;
  const shown = isPending && state.state !== "connected" ? "pending" : state.state;
  return {
    server: config.name,
    principal: key.principal,
    state: shown,
    by: login.isMachine ? "machine" : "person",
    ...(record === undefined
      ? {}
      : {
          issuer: record.issuer,
          scopes: record.scope?.split(" ") ?? record.requested,
          client_id: record.client.id,
          registered: record.client.how,
          renewed_at: new Date(record.receivedAt).toISOString(),
          renewable: record.refresh !== undefined,
          ...(record.account === undefined ? {} : { account: record.account }),
          ...(record.resource === undefined ? {} : { resource: record.resource }),
        }),
    ...(expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() }),
    ...(error === undefined ? {} : { error: error.toJSON() }),
    ...(error?.loginUrl === undefined ? {} : { login_url: error.loginUrl }),
  };
}
