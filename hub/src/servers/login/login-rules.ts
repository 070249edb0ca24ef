// Which entries have a login of the hub, and when two of them share it.

import type { ServerConfig } from "../../config/schema/types.ts";
import { HubError } from "../../errors.ts";
import type { ServerLogin } from "./server-login.ts";

/** Codes with which an authorization server refuses the scope offline_access that it lists. */
const SCOPE_REFUSED: ReadonlySet<string> = new Set(["not_allowed", "invalid_scope"]);

/** Whether the hub takes care of the credentials. An Authorization header in the entry means that its author does. */
export function usesOAuth({ transport, auth }: ServerConfig): boolean {
  if (transport.type === "stdio" || auth?.type === "none") return false;
  return auth !== undefined || !Object.keys(transport.headers).some((name) => name.toLowerCase() === "authorization");
}

export function notOAuth({ name, transport, auth }: ServerConfig): HubError {
  if (transport.type === "stdio") return new HubError("InvalidArgument", `"${name}" is a program: it has no login`);
  const why = auth?.type === "none" ? 'its entry says "auth": false' : "its entry sets an Authorization header";
  return new HubError("InvalidArgument", `The hub does not log in at "${name}": ${why}`, {
    hint: `Change the entry: plugboard edit ${name}`,
  });
}

export function isSameAuth({ config, url }: ServerLogin, other: ServerConfig, otherUrl: URL): boolean {
  const isSame = JSON.stringify(config.auth) === JSON.stringify(other.auth) && config.name === other.name;
  return isSame && url.host === otherUrl.host && url.pathname === otherUrl.pathname && url.search === otherUrl.search;
}

export function isScopeRefusal(failure: unknown): boolean {
  if (typeof failure !== "object" || failure === null || !("code" in failure)) return false;
  return typeof failure.code === "string" && SCOPE_REFUSED.has(failure.code);
}

/** The scope for refresh tokens that outlive the person's session. */
export const OFFLINE = "offline_access";

/** Some authorization servers list the scope and refuse it to a person or client: the next login does without. */
export function offlineRefused({ name }: ServerConfig, { kind, message, detail }: HubError): HubError {
  return new HubError(kind, message, {
    ...(detail === undefined ? {} : { detail }),
    hint: `Log in again, which now does without the scope ${OFFLINE}: plugboard auth ${name}`,
  });
}
