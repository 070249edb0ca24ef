// Which scopes to ask for.

import type { Challenge, Discovery } from "./types.ts";

export interface ScopeOptions {
  readonly configured?: readonly string[] | undefined;
  readonly challenge: Challenge | undefined;
  readonly discovery: Pick<Discovery, "metadata" | "resourceScopes">;
  /** Scopes of earlier authorizations, if this one extends them. */
  readonly earlier?: readonly string[] | undefined;
  /** False: this authorization server lists offline_access, but refused it. */
  readonly offlineAccess?: boolean | undefined;
}

/** Asks for a refresh token (OpenID Connect). */
export const OFFLINE_ACCESS = "offline_access";
/** RFC 6749, section 3.3. */
const SCOPE = /^[!#-[\]-~]+$/;

/**
 * The scopes of a new authorization. Empty: the parameter is left out. Configured ones win over those of the challenge, and these
 * over the list in the server's metadata. A step-up adds the challenged ones to all earlier ones, and nothing else.
 */
export function chooseScopes(options: ScopeOptions): readonly string[] {
  const { configured, challenge, discovery } = options;
  // There is nothing to widen where nothing was asked for.
  const earlier = options.earlier?.length === 0 ? undefined : options.earlier;
  const challenged = challenge?.scope === undefined ? undefined : words(challenge.scope);
  const base = configured ?? challenged ?? (earlier === undefined ? discovery.resourceScopes : undefined) ?? [];
  const scopes = new Set([...(earlier ?? []), ...base, ...(earlier === undefined ? [] : (challenged ?? []))]);
  if (options.offlineAccess === false) scopes.delete(OFFLINE_ACCESS);
  else if (wantsOffline(discovery, scopes)) scopes.add(OFFLINE_ACCESS);
  return [...scopes].filter((scope) => SCOPE.test(scope));
}

/** A refresh token is requested only if the authorization server supports its scope. */
function wantsOffline({ metadata }: ScopeOptions["discovery"], scopes: ReadonlySet<string>): boolean {
  const supported = metadata.scopes_supported ?? [];
  return supported.includes(OFFLINE_ACCESS) && (scopes.size > 0 || supported.includes("openid"));
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
