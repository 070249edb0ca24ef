// The addresses of the authorization server.

/** Of the protocol library. */
export const ROUTES = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  registration: "/oauth/register",
  revocation: "/oauth/revoke",
  jwks: "/oauth/jwks",
} as const;

/** Where a person signs in and consents: `/oauth/consent/<id of the request>`. */
export const CONSENT_PATH = "/oauth/consent";
export const SCRIPT_PATH = "/oauth/sign-in.js";

const METADATA: ReadonlySet<string> = new Set([
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
]);
const LIBRARY: ReadonlySet<string> = new Set([...METADATA, ...Object.values(ROUTES)]);

export function isMetadata(path: string): boolean {
  return METADATA.has(path);
}

/** Who answers at a path; undefined: it is not one of the authorization server. */
export function ownerOf(path: string): "library" | "consent" | "script" | undefined {
  if (LIBRARY.has(path) || path.startsWith(`${ROUTES.authorization}/`)) return "library";
  if (path.startsWith(`${CONSENT_PATH}/`)) return "consent";
  return path === SCRIPT_PATH ? "script" : undefined;
}
