// The exposed names of tools and prompts: valid for LLM clients, and unique. name-table.ts resolves them; a name is never split to
// find its server.
import { createHash } from "node:crypto";
import { trimEnds } from "@plugboard/shared/trim";

export interface NameForm {
  /** Whether the group has several servers in the config, running or not. */
  readonly several: boolean;
  readonly maxLength: number;
  /** Every name is the server's own. Only for one server alone, and not for LLM clients. */
  readonly verbatim?: boolean;
  /** Names that the group gives to tools: no other tool has them, whether or not those tools exist. */
  readonly taken?: { has(name: string): boolean };
}

/** The server, and the tool's own name on that server. */
export interface NameParts {
  readonly server: string;
  readonly own: string;
}

export const DEFAULT_MAX_NAME_LENGTH = 64;
/** Below this a hashed name has no room for a readable part. */
export const MIN_MAX_NAME_LENGTH = 40;

const SEPARATOR = "__";
const HASH_MARK = "--";
const SHORT_HASH = 8;
const LONG_HASH = 32;
const LEGAL = /^[A-Za-z0-9_-]+$/;
const LOOKS_HASHED = /--(?:[a-z2-7]{8}|[a-z2-7]{32})$/;

/**
 * One name for each entry, in order. The entries must be distinct.
 *
 * @example exposeNames([{ server: "git", own: "log" }], { several: true, maxLength: 64 }) // ["git__log"]
 */
export function exposeNames(entries: readonly NameParts[], form: NameForm): string[] {
  if (form.verbatim === true) return entries.map(({ own }) => own);
  const names = entries.map((entry) => plainName(entry, form) ?? hashedName(entry, form, SHORT_HASH));
  const uses = new Map<string, number>();
  for (const name of names) uses.set(name, (uses.get(name) ?? 0) + 1);
  if (uses.size === names.length) return names;
  // Plain names are unique, so these are short hashes, which can be made to collide on purpose. All of them get the long hash:
  // a client that still uses the short name must not reach the wrong server.
  return entries.map((entry, index) => {
    const name = names[index] ?? "";
    return (uses.get(name) ?? 0) > 1 ? hashedName(entry, form, LONG_HASH) : name;
  });
}

/** The tool's own name, if `exposed` is its plain name on this server. */
export function findPlainTool(exposed: string, server: string, form: NameForm): string | undefined {
  if (form.verbatim === true) return exposed;
  const prefix = prefixOf(server, form);
  if (!exposed.startsWith(prefix)) return undefined;
  const own = exposed.slice(prefix.length);
  return plainName({ server, own }, form) === exposed ? own : undefined;
}

/** Whether `exposed` can be a hashed name on this server. */
export function mayBeHashedName(exposed: string, server: string, form: NameForm): boolean {
  if (exposed.length > form.maxLength || !LEGAL.test(exposed) || !LOOKS_HASHED.test(exposed)) return false;
  const stem = exposed.slice(0, exposed.lastIndexOf(HASH_MARK));
  const hashLength = exposed.length - stem.length - HASH_MARK.length;
  return stem.startsWith(prefixOf(server, form).slice(0, stemLength(form, hashLength)));
}

/** Undefined if another server and tool could have the same name; it is hashed then. */
function plainName({ server, own }: NameParts, form: NameForm): string | undefined {
  if (own.length === 0 || own.length > form.maxLength) return undefined;
  // The first `__` must separate server and tool: otherwise `a` + `b__c` and `a__b` + `c` would clash.
  if (form.several && (server.includes(SEPARATOR) || server.endsWith("_") || own.startsWith("_"))) return undefined;
  const name = prefixOf(server, form) + own;
  if (name.length > form.maxLength || !LEGAL.test(name) || LOOKS_HASHED.test(name)) return undefined;
  if (form.taken?.has(name) === true) return undefined;
  return name;
}

function hashedName({ server, own }: NameParts, form: NameForm, hashLength: number): string {
  // Cut first: a server may send a very long name.
  const readable = plainLetters(own.slice(0, form.maxLength)).replace(/[^A-Za-z0-9_-]+/g, "_");
  const stem = prefixOf(server, form) + (trimEnds(readable, "_-") || "tool");
  return stem.slice(0, stemLength(form, hashLength)) + HASH_MARK + digest(server, own).slice(0, hashLength);
}

/** Removes accents and full-width forms: "größe" becomes "grosse", not "gr_e". */
function plainLetters(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text;
  const base = text.normalize("NFKD").replace(/\p{M}+/gu, "");
  return base.replace(/[ßæøœłđðþ]/giu, (letter) => LETTERS[letter.toLowerCase()] ?? letter);
}

/** Letters that NFKD does not decompose. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  ø: "o",
  œ: "oe",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
};

function stemLength(form: NameForm, hashLength: number): number {
  return form.maxLength - HASH_MARK.length - hashLength;
}

function prefixOf(server: string, form: NameForm): string {
  return form.several ? server + SEPARATOR : "";
}

function digest(server: string, own: string): string {
  const hash = createHash("sha256").update(server).update("\0");
  // Lone surrogates have no UTF-8 form: all would become U+FFFD and hash alike, so such names are hashed as UTF-16.
  // 0xff never occurs in UTF-8, so the two encodings cannot collide.
  if (/\p{Surrogate}/u.test(own)) hash.update(Buffer.of(0xff)).update(own, "utf16le");
  else hash.update(own);
  return base32(hash.digest().subarray(0, (LONG_HASH * 5) / 8));
}

function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held & 0x1f) << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += "abcdefghijklmnopqrstuvwxyz234567".charAt((held >> bits) & 0x1f);
    }
  }
  return text;
}
