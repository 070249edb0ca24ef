// The rules for what a client says about itself, whether it registers or publishes a document. Everything that is not needed is
// dropped: nothing of it is fetched or shown, except for the name.

/** As the protocol library holds it while it checks: it may be changed. */
export type ClientMetadata = Record<string, unknown>;

const MAX_NAME = 64;
const MAX_REDIRECTS = 10;
const MAX_URI = 2000;
const METHODS: ReadonlySet<unknown> = new Set(["none", "client_secret_basic", "client_secret_post"]);
const GRANT_TYPES: ReadonlySet<unknown> = new Set(["authorization_code", "refresh_token"]);
/** Browsers run or open these themselves. */
const FORBIDDEN_SCHEMES: ReadonlySet<string> = new Set([
  "about:",
  "blob:",
  "data:",
  "file:",
  "filesystem:",
  "ftp:",
  "javascript:",
  "mailto:",
  "vbscript:",
  "view-source:",
  "ws:",
  "wss:",
]);
const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
/** What is kept; the library adds ids and secrets of its own. */
const KEPT: ReadonlySet<string> = new Set([
  "application_type",
  "client_id",
  "client_id_issued_at",
  "client_name",
  "client_secret",
  "client_secret_expires_at",
  "grant_types",
  "redirect_uris",
  "response_types",
  "token_endpoint_auth_method",
]);
/** Of the library: it fills these in, and they have no effect without ID tokens. */
const DEFAULTS: ReadonlySet<string> = new Set(["id_token_signed_response_alg", "subject_type", "require_auth_time"]);

/** Applies the rules in place. Returns what is wrong: metadata that cannot be accepted. */
export function cleanClientMetadata(metadata: ClientMetadata): string | undefined {
  const uris: unknown = metadata["redirect_uris"];
  if (!Array.isArray(uris) || uris.length === 0) return "redirect_uris must have at least one address";
  if (uris.length > MAX_REDIRECTS) return `redirect_uris must have at most ${MAX_REDIRECTS} addresses`;
  for (const uri of uris) {
    const problem = redirectProblem(uri);
    if (problem !== undefined) return `redirect_uris: ${problem}`;
  }
  const name = cleanName(metadata["client_name"]);
  if (name === "") delete metadata["client_name"];
  else metadata["client_name"] = name;
  metadata["token_endpoint_auth_method"] = methodOf(metadata);
  // The type of client whose loopback addresses may have any port. Its rules for other addresses are the stricter ones.
  metadata["application_type"] = "native";
  metadata["response_types"] = ["code"];
  const asked: unknown = metadata["grant_types"];
  const types = Array.isArray(asked) ? asked.filter((type) => GRANT_TYPES.has(type)) : [];
  metadata["grant_types"] = [...new Set(["authorization_code", ...types])];
  for (const member of Object.keys(metadata)) {
    if (!KEPT.has(member) && !DEFAULTS.has(member)) delete metadata[member];
  }
  return undefined;
}

/** Why a client may not be sent back to an address; undefined if it may. */
export function redirectProblem(uri: unknown): string | undefined {
  if (typeof uri !== "string" || uri.length > MAX_URI || !URL.canParse(uri)) return "not an address";
  // Parsers drop or replace some characters, and people would read another address than the browser opens.
  if (/[^\x21-\x7e]|[\\<>"^`{|}]/.test(uri)) return "an address must not have spaces or special characters";
  const url = new URL(uri);
  if (uri.includes("#")) return "an address must not have a fragment";
  if (url.username !== "" || url.password !== "" || /^[a-z][a-z0-9+.-]*:\/\/[^/?]*@/i.test(uri)) {
    return "an address must not have a user name";
  }
  if (FORBIDDEN_SCHEMES.has(url.protocol)) return `${url.protocol} is not allowed`;
  const isLoopback = LOOPBACK.has(url.hostname);
  if (url.protocol === "http:" && !isLoopback) return "http: is only for this computer (localhost); use https:";
  if (url.protocol === "https:" && isLoopback) return "https: is not for this computer; use http:";
  return undefined;
}

/** The host that gets the code, as it is shown to people; a private scheme if it is an app's. */
export function redirectHost(uri: string): { readonly shown: string; readonly isLoopback: boolean } {
  const url = new URL(uri);
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  return { shown: isWeb ? url.hostname : url.protocol, isLoopback: isWeb && LOOPBACK.has(url.hostname) };
}

/** One line without control characters, and without those that change the direction of the text. */
function cleanName(name: unknown): string {
  if (typeof name !== "string") return "";
  const plain = name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").replaceAll(/ {2,}/g, " ");
  return Array.from(plain).slice(0, MAX_NAME).join("").trim();
}

/** Some documents list several methods, or one that is not offered beside `none`. */
function methodOf(metadata: ClientMetadata): unknown {
  const { token_endpoint_auth_method: method, token_endpoint_auth_methods_supported: listed } = metadata;
  if (METHODS.has(method)) return method;
  const offered: unknown[] = Array.isArray(listed) ? listed : [];
  return offered.find((each) => METHODS.has(each)) ?? method ?? "client_secret_basic";
}
