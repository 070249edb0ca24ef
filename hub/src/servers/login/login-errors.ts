// The errors of a server that needs a login, each with what to do about it.

import { HubError, type ErrorKind } from "../../errors.ts";
import { quoted } from "../../lib/quoted.ts";

/** Kinds that a person ends by logging in. */
const LOGIN_KINDS: ReadonlySet<string> = new Set<ErrorKind>([
  "LoginRequired",
  "LoginExpired",
  "ScopeRequired",
  "ClientIdRequired",
]);

export function isLoginError({ kind }: { readonly kind: string }): boolean {
  return LOGIN_KINDS.has(kind);
}

/** Only a person can end it: by logging in, or by storing a secret of their own. */
export function needsPerson({ kind }: { readonly kind: string }): boolean {
  return kind === "SecretRequired" || isLoginError({ kind });
}

/** The option of commands for a person other than the owner of the hub. */
export function asPrincipal(principal: string | undefined): string {
  return principal === undefined || principal === "local" ? "" : ` --as ${quoted(principal)}`;
}

interface Where {
  readonly server: string;
  /** Whose login it is. */
  readonly principal?: string | undefined;
  /** A page of the hub where a person can log in. Undefined if the hub does not listen. */
  readonly loginUrl?: string | undefined;
  readonly detail?: string | undefined;
  readonly cause?: unknown;
}

export function loginRequired(where: Where): HubError {
  return loginError("LoginRequired", `Server "${where.server}" needs a login`, where);
}

export function loginExpired(where: Where): HubError {
  return loginError("LoginExpired", `The login at server "${where.server}" has expired`, where);
}

export function scopeRequired(where: Where & { readonly missing: readonly string[] }): HubError {
  const detail = where.missing.length === 0 ? undefined : `Scopes: ${where.missing.join(" ")}`;
  return loginError("ScopeRequired", `Server "${where.server}" needs a login with more permissions`, {
    detail,
    ...where,
  });
}

/** The server refuses this request although the login is valid. */
export function notAllowed({ server, detail, cause }: Where): HubError {
  return new HubError("Forbidden", `Server "${server}" does not allow this with its login`, {
    delivery: "rejected",
    hint: `Another account may be allowed to: plugboard auth ${server}`,
    ...(detail === undefined ? {} : { detail }),
    ...(cause === undefined ? {} : { cause }),
  });
}

/** A login by configuration failed: no person can help, the config has to change. */
export function clientRefused({ server, detail, cause }: Where): HubError {
  return new HubError("Unauthenticated", `Server "${server}" does not accept the configured client`, {
    delivery: "rejected",
    hint: `Check auth of the entry: plugboard edit ${server}`,
    ...(detail === undefined ? {} : { detail }),
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The login exists, but the authorization server cannot be asked for a new token now. */
export function renewalDelayed({ server, retryAfterMs, detail, cause }: Where & { retryAfterMs: number }): HubError {
  const message = `The login at server "${server}" cannot be renewed now`;
  return new HubError("ConnectionFailed", message, {
    delivery: "withheld",
    retryAfterMs,
    ...(detail === undefined ? {} : { detail }),
    ...(cause === undefined ? {} : { cause }),
  });
}

function loginError(kind: ErrorKind, message: string, { server, principal, loginUrl, detail, cause }: Where): HubError {
  return new HubError(kind, message, {
    delivery: "rejected",
    hint: `plugboard auth ${server}${asPrincipal(principal)}`,
    ...(loginUrl === undefined ? {} : { loginUrl }),
    ...(detail === undefined ? {} : { detail }),
    ...(cause === undefined ? {} : { cause }),
  });
}
