// Masks credentials in config values: by name, by form and by position. Used to show a config (api/server/entry/) and to collect
// its secrets (servers/server-secrets.ts). False positives are acceptable: a masked value that a client sends back is replaced
// by the stored one.

import { decodeUri } from "@plugboard/shared/lenient";
import { isRandom } from "./entropy.ts";
import { isCredentialKey } from "./credential-key.ts";

/** Shown in place of a secret. */
export const MASK = "***";

/** Returns the replacement of a secret. */
export type Hide = (secret: string) => string;

export const hideAll: Hide = () => MASK;

/** Words that mean a credential in settings (`GITHUB_PAT`, `?key=`), but not necessarily in tool data. */
const CREDENTIAL_WORD = /(?:^|[-_.])(?:key|auth|pass|pat|sig|signature|pin|dsn)(?:$|[-_.])|(?:tok|creds?)$/i;
/** `${NAME}`, `${user:NAME}` and `${NAME:-default}`: the name may be shown; the default may be a secret. */
const REFERENCE = /\$\{(?:user:)?[A-Za-z_][A-Za-z0-9_]*(?:\}|:-([^}]*)(\}|$))/g;
const SCHEME = /^(?:Bearer|Basic|Token)(?=\s|$)/i;
const USERINFO = /:\/\/([^\s/?#]*)@/g;
/** `name=value` in a query, a connection string or an option. */
const ASSIGNMENT = /(^|[?&#;\s])([\w.%-]+)=("[^"]*"|'[^']*'|[^&#;\s]+)/g;
/** A JSON member, also of JSON in a string: `--config {"apiKey":"…"}`. Name and value have the same level of escaping. */
const MEMBER = /(\\{0,7}["'])([\w.-]+)\1(\s*:\s*)\1((?:(?!\1).)+)\1/gs;
const SCHEME_AND_TOKEN = /\b(Bearer|Basic)( +)([A-Za-z0-9._~+/=-]{6,})/gi;
/** Tokens with a recognizable form. */
const KNOWN_TOKEN =
  /\b(?:sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|(?<!-)eyJ[\w-]+\.[\w-]+\.[\w-]+|pb_[\w-]{43}|pbt_[\w-]{49})/g;
/** The path of a webhook url is its credential. */
const WEBHOOK =
  /\b((?:hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)|discord(?:app)?\.com\/api\/webhooks)\/)([\w/-]+)/gi;

export function isCredentialName(name: string): boolean {
  return isCredentialKey(name) || CREDENTIAL_WORD.test(name);
}

/** Masks a text that is a secret, unless it consists of references to variables. */
export function maskSecret(text: string, hide: Hide): string {
  const literal = text.replace(REFERENCE, (whole, fallback: string | undefined, end?: string) =>
    end === "" ? whole : (fallback ?? ""),
  );
  return literal.trim().replace(SCHEME, "").replaceAll(/[\s:]/g, "") === "" ? text : hide(text);
}

/** Whether a secret is written out, and does not only refer to variables as in `Bearer ${TOKEN}`. */
export function isLiteralSecret(text: string): boolean {
  let isLiteral = false;
  maskSecret(text, (secret) => {
    isLiteral = true;
    return secret;
  });
  return isLiteral;
}

/** Masks secrets inside a text: passwords in urls and queries, tokens of a known form. */
export function maskText(text: string, hide: Hide): string {
  return text
    .replaceAll(USERINFO, (_, userinfo: string) => `://${maskSecret(userinfo, hide)}@`)
    .replaceAll(ASSIGNMENT, (whole, before: string, name: string, value: string) =>
      isCredentialName(decodeUri(name)) ? `${before}${name}=${maskSecret(value, hide)}` : whole,
    )
    .replaceAll(MEMBER, (whole, quote: string, name: string, colon: string, value: string) =>
      isCredentialName(name) ? quote + name + quote + colon + quote + maskSecret(value, hide) + quote : whole,
    )
    .replaceAll(SCHEME_AND_TOKEN, (_, scheme: string, blank: string, value: string) => scheme + blank + hide(value))
    .replaceAll(WEBHOOK, (_, place: string, path: string) => place + hide(path))
    .replaceAll(KNOWN_TOKEN, (token) => hide(token));
}

/** Masks secrets in a url, including random path segments, which some services use as keys. */
export function maskUrl(url: string, hide: Hide): string {
  const [, before = "", path = "", rest = ""] = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)([^?#]*)(.*)$/is.exec(url) ?? [];
  if (path === "") return maskText(url, hide);
  const shown = path.replaceAll(/[^/]+/g, (part) => (isRandom(part) ? maskSecret(part, hide) : part));
  return maskText(`${before}${shown}${rest}`, hide);
}

/** Masks secrets in arguments: `--token value`, `--token=value`, `-e NAME=value`, `-H "Name: value"`. */
export function maskArgs(args: readonly string[], hide: Hide): string[] {
  // `-p` of npx is a package.
  const isNpx = args.some((arg) => /^(?:-y|--yes|--package)$/.test(arg));
  return args.map((arg, index) => {
    const previous = args[index - 1] ?? "";
    return previous === "-p" && !isNpx && !NOT_A_PASSWORD.test(arg)
      ? maskSecret(arg, hide)
      : maskArg(arg, previous, hide);
  });
}

/** Values of `-p` that are no password: a port, a path, another option. */
const NOT_A_PASSWORD = /^(?:[\d.:/-]*(?:tcp|udp)?$|[-./~@])/;

function maskArg(arg: string, previous: string, hide: Hide): string {
  if (/^--?[\w.-]+$/.test(previous) && !arg.startsWith("-") && isCredentialName(previous.replace(/^-+/, ""))) {
    return maskSecret(arg, hide);
  }
  const [, name = "", between = "", value = ""] = /^([\w.-]+)(=|: *)(.+)$/s.exec(arg) ?? [];
  const isHeader = /^(?:-H|--header)$/.test(previous) && between.startsWith(":");
  if (value !== "" && (isHeader || isCredentialName(name))) return `${name}${between}${maskSecret(value, hide)}`;
  return maskText(arg, hide);
}

/** Masks secrets in JSON: values of members with credential names, and secrets inside strings. */
export function maskJson(value: unknown, hide: Hide, name = ""): unknown {
  if (typeof value === "string") return isCredentialName(name) ? maskSecret(value, hide) : maskText(value, hide);
  if (Array.isArray(value)) return value.map((item) => maskJson(item, hide, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, maskJson(member, hide, key)]));
}
