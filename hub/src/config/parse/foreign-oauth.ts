// Reads the OAuth settings that other clients write, as `auth` of an entry: `oauth` of Claude Code, VS Code, OpenCode, Gemini CLI,
// LibreChat and mcphub, and `auth` of Cursor.

import { isObject } from "../../lib/json/json.ts";
import { snakeCase } from "./auth.ts";
import type { JsonObject } from "./plain-object.ts";

export interface ForeignOAuth {
  /** Undefined if the settings say nothing that the hub needs. */
  readonly auth: JsonObject | false | undefined;
  /** Members without an equivalent. */
  readonly unused: readonly string[];
  readonly redirectUri?: string;
  /** The tokens of a login that the client keeps in its settings. */
  readonly tokens: ForeignTokens;
}

export interface ForeignTokens {
  readonly access?: string;
  readonly refresh?: string;
}

export function readForeignOAuth(oauth: unknown): ForeignOAuth {
  if (oauth === false || (isObject(oauth) && oauth["enabled"] === false))
    return { auth: false, unused: [], tokens: {} };
  if (!isObject(oauth) || Array.isArray(oauth)) return { auth: undefined, unused: [], tokens: {} };
  const auth: JsonObject = {};
  const unused: string[] = [];
  const members = new Map(Object.entries(oauth).map(([key, value]) => [snakeCase(key), { key, value }]));
  for (const [name, { key, value }] of members) {
    const read = READERS.get(name)?.(value);
    if (read === undefined) unused.push(key);
    else Object.assign(auth, read);
  }
  for (const [name, needed] of PAIRS) {
    if (auth[name] === undefined || auth[needed] !== undefined) continue;
    delete auth[name];
    unused.push(members.get(name)?.key ?? name);
  }
  if (auth["client_id"] === undefined) {
    // The hub registers its own redirect URI.
    delete auth["redirect_host"];
    delete auth["redirect_port"];
  }
  const redirectUri = textOf(members.get("redirect_uri")?.value);
  const access = textOf(members.get("access_token")?.value);
  const refresh = textOf(members.get("refresh_token")?.value);
  return {
    auth: Object.keys(auth).length === 0 ? undefined : auth,
    unused,
    ...(redirectUri === undefined ? {} : { redirectUri }),
    tokens: { ...named("access", access), ...named("refresh", refresh) },
  };
}

/** Members that make no sense without another one. */
const PAIRS = [
  ["client_secret", "client_id"],
  ["authorization_url", "token_url"],
  ["token_url", "authorization_url"],
] as const;

/** Undefined: the value cannot be used. */
type Reader = (value: unknown) => JsonObject | undefined;

const text =
  (name: string): Reader =>
  (value) => {
    const given = textOf(value);
    return given === undefined ? undefined : { [name]: given };
  };

const scopes: Reader = (value) => {
  if (typeof value === "string") return { scopes: value.split(/\s+/).filter((scope) => scope !== "") };
  return Array.isArray(value) ? { scopes: value.filter((scope) => typeof scope === "string") } : undefined;
};

const known: Reader = () => ({});

/** By name in snake_case. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["client_id", text("client_id")],
  ["client_secret", text("client_secret")],
  ["issuer", text("issuer")],
  ["resource", text("resource")],
  ["authorization_url", text("authorization_url")],
  ["authorization_endpoint", text("authorization_url")],
  ["token_url", text("token_url")],
  ["token_endpoint", text("token_url")],
  ["scope", scopes],
  ["scopes", scopes],
  ["callback_port", (value) => (isPort(value) ? { redirect_port: value } : undefined)],
  ["redirect_uri", readRedirect],
  ["auth_server_metadata_url", readMetadataUrl],
  ["skip_code_challenge_check", (value) => (value === true ? { pkce: "assume" } : {})],
  ["token_exchange_method", readExchangeMethod],
  ["dynamic_registration", readRegistration],
  ["enabled", known],
  ["access_token", known],
  ["refresh_token", known],
  // A login that had only begun.
  ["pending_authorization", known],
]);

/** The hub cannot receive a redirect to another machine. */
function readRedirect(value: unknown): JsonObject {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== "http:" || !/^(?:localhost|127\.0\.0\.1)$/.test(url.hostname)) return {};
  return {
    ...(url.hostname === "localhost" ? {} : { redirect_host: url.hostname }),
    ...(url.port === "" ? {} : { redirect_port: Number(url.port) }),
  };
}

/** The issuer whose metadata is at this address: RFC 8414 inserts the well-known part, OpenID Connect appends it. */
function readMetadataUrl(value: unknown): JsonObject | undefined {
  const url = textOf(value);
  const found =
    /^(https?:\/\/[^/?#]+)(.*)\/\.well-known\/(?:oauth-authorization-server|openid-configuration)(.*)$/.exec(url ?? "");
  if (found === null) return undefined;
  const [, origin = "", before = "", after = ""] = found;
  return { issuer: origin + before + after };
}

function readExchangeMethod(value: unknown): JsonObject | undefined {
  if (value === "basic_auth_header") return { token_endpoint_auth_method: "client_secret_basic" };
  return value === "default_post" ? { token_endpoint_auth_method: "client_secret_post" } : undefined;
}

function readRegistration(value: unknown): JsonObject {
  return isObject(value) ? named("issuer", textOf(value["issuer"])) : {};
}

function named(name: string, value: string | undefined): Record<string, string> {
  return value === undefined ? {} : { [name]: value };
}

function isPort(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value < 65_536;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
