// What in a text is a credential, and the text without it. Where such texts stand in a config is left to those who show
// one (api/entry) and to those who must know its secrets (servers/secrets-of.ts). Rather one too many than one too few: a
// masked value that is sent back stands for the stored one.

import { isRandom } from "./commonplace.ts";
import { isCredentialKey } from "./credential-key.ts";

/** What is shown in place of a secret. */
export const MASK = "***";

/** Gets a secret and gives what is shown instead. */
export type Hide = (secret: string) => string;

export const hideAll: Hide = () => MASK;

/** Words that mean a credential in a setting (`GITHUB_PAT`, `?key=`), where in a tool's data they mean other things too. */
const CREDENTIAL_WORD = /(?:^|[-_.])(?:key|auth|pass|pat|sig|signature|pin|dsn)(?:$|[-_.])|(?:tok|creds?)$/i;
/** `${NAME}` and `${NAME:-default}`: the name may be shown, what it defaults to is a value like any other. */
const REFERENCE = /\$\{[A-Za-z_][A-Za-z0-9_]*(?:\}|:-([^}]*)(\}|$))/g;
const SCHEME = /^(?:Bearer|Basic|Token)(?=\s|$)/i;
const USERINFO = /:\/\/([^\s/?#]*)@/g;
/** In a query, a connection string, an option: `name=value`. */
const ASSIGNMENT = /(^|[?&#;\s])([\w.%-]+)=("[^"]*"|'[^']*'|[^&#;\s]+)/g;
/** A member of JSON, also of JSON in a string: `--config {"apiKey":"…"}`. The quotes of name and value are escaped alike. */
const MEMBER = /(\\{0,7}["'])([\w.-]+)\1(\s*:\s*)\1((?:(?!\1).)+)\1/gs;
const SCHEMED = /\b(Bearer|Basic)( +)([A-Za-z0-9._~+/=-]{6,})/gi;
/** Tokens that say by their form what they are. */
const KNOWN =
  /\b(?:sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|(?<!-)eyJ[\w-]+\.[\w-]+\.[\w-]+|pb_[\w-]{43})/g;
/** Whoever has such an address may post there: it is the key itself. */
const WEBHOOK =
  /\b((?:hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)|discord(?:app)?\.com\/api\/webhooks)\/)([\w/-]+)/gi;

export function isCredentialName(name: string): boolean {
  return isCredentialKey(name) || CREDENTIAL_WORD.test(name);
}

/** A text that is secret as a whole; nothing but references to variables is shown as it is written. */
export function maskSecret(text: string, hide: Hide): string {
  const literal = text.replace(REFERENCE, (whole, fallback: string | undefined, end?: string) =>
    end === "" ? whole : (fallback ?? ""),
  );
  return literal.trim().replace(SCHEME, "").replaceAll(/[\s:]/g, "") === "" ? text : hide(text);
}

/** A text that may have secrets in it: passwords in URLs and queries, tokens of a known form. */
export function maskText(text: string, hide: Hide): string {
  return text
    .replaceAll(USERINFO, (_, userinfo: string) => `://${maskSecret(userinfo, hide)}@`)
    .replaceAll(ASSIGNMENT, (whole, before: string, name: string, value: string) =>
      isCredentialName(decode(name)) ? `${before}${name}=${maskSecret(value, hide)}` : whole,
    )
    .replaceAll(MEMBER, (whole, quote: string, name: string, colon: string, value: string) =>
      isCredentialName(name) ? quote + name + quote + colon + quote + maskSecret(value, hide) + quote : whole,
    )
    .replaceAll(SCHEMED, (_, scheme: string, blank: string, value: string) => scheme + blank + hide(value))
    .replaceAll(WEBHOOK, (_, place: string, path: string) => place + hide(path))
    .replaceAll(KNOWN, (token) => hide(token));
}

/** An address to connect to: like any text, and a part of its path that nobody would choose is the key to it. */
export function maskUrl(url: string, hide: Hide): string {
  const [, before = "", path = "", rest = ""] = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)([^?#]*)(.*)$/is.exec(url) ?? [];
  if (path === "") return maskText(url, hide);
  const shown = path.replaceAll(/[^/]+/g, (part) => (isRandom(part) ? maskSecret(part, hide) : part));
  return maskText(`${before}${shown}${rest}`, hide);
}

/** A command's arguments: `--token value`, `--token=value`, `-e NAME=value`, `-H "Name: value"`. */
export function maskArgs(args: readonly string[], hide: Hide): string[] {
  // Of npx `-p` is a package.
  const isNpx = args.some((arg) => /^(?:-y|--yes|--package)$/.test(arg));
  return args.map((arg, index) => {
    const previous = args[index - 1] ?? "";
    return previous === "-p" && !isNpx && !NO_PASSWORD.test(arg) ? maskSecret(arg, hide) : maskArg(arg, previous, hide);
  });
}

/** What `-p` is given where it is no password: a port, a path, another option. */
const NO_PASSWORD = /^(?:[\d.:/-]*(?:tcp|udp)?$|[-./~@])/;

function maskArg(arg: string, previous: string, hide: Hide): string {
  if (/^--?[\w.-]+$/.test(previous) && !arg.startsWith("-") && isCredentialName(previous.replace(/^-+/, ""))) {
    return maskSecret(arg, hide);
  }
  const [, name = "", between = "", value = ""] = /^([\w.-]+)(=|: *)(.+)$/s.exec(arg) ?? [];
  const isHeader = /^(?:-H|--header)$/.test(previous) && between.startsWith(":");
  if (value !== "" && (isHeader || isCredentialName(name))) return `${name}${between}${maskSecret(value, hide)}`;
  return maskText(arg, hide);
}

/** Free JSON: what stands under the name of a credential, and what any text in it gives away. */
export function maskJson(value: unknown, hide: Hide, name = ""): unknown {
  if (typeof value === "string") return isCredentialName(name) ? maskSecret(value, hide) : maskText(value, hide);
  if (Array.isArray(value)) return value.map((item) => maskJson(item, hide, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, maskJson(member, hide, key)]));
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // not an escape: the name is as it looks
  }
}
