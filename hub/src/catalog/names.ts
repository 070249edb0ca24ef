// The names under which tools and prompts are offered to clients: what LLM clients accept, and never one name for two things.
// Who owns a name is decided by name-table.ts; nothing here is ever split to find the server of a call.
import { createHash } from "node:crypto";
import { trimEnds } from "../trim.ts";

export interface NameForm {
  /** Does the group have several member servers in the config? Whether they run does not matter. */
  readonly several: boolean;
  readonly maxLength: number;
}

/** What a name is made from: the server, and the tool as that server calls it. */
export interface NameParts {
  readonly server: string;
  readonly own: string;
}

export const DEFAULT_MAX_NAME_LENGTH = 64;
/** Below this a hashed name has no room for anything that a person could read. */
export const MIN_MAX_NAME_LENGTH = 40;

const SEPARATOR = "__";
const HASH_MARK = "--";
const SHORT_HASH = 8;
const LONG_HASH = 32;
const LEGAL = /^[A-Za-z0-9_-]+$/;
const LOOKS_HASHED = /--(?:[a-z2-7]{8}|[a-z2-7]{32})$/;

/**
 * One name for each entry, in order. The entries are distinct.
 *
 * @example exposeNames([{ server: "git", own: "log" }], { several: true, maxLength: 64 }) // ["git__log"]
 */
export function exposeNames(entries: readonly NameParts[], form: NameForm): string[] {
  const names = entries.map((entry) => plainName(entry, form) ?? hashedName(entry, form, SHORT_HASH));
  const uses = new Map<string, number>();
  for (const name of names) uses.set(name, (uses.get(name) ?? 0) + 1);
  if (uses.size === names.length) return names;
  // Plain names cannot meet, so these are hashes, and eight characters can be made to meet on purpose. All of them move
  // to the long hash and nobody keeps the short name: a client that still knows it must not reach the wrong server.
  return entries.map((entry, index) => {
    const name = names[index] ?? "";
    return (uses.get(name) ?? 0) > 1 ? hashedName(entry, form, LONG_HASH) : name;
  });
}

/** The tool's own name, if `exposed` is its plain name on this server. */
export function findPlainTool(exposed: string, server: string, form: NameForm): string | undefined {
  const prefix = prefixOf(server, form);
  if (!exposed.startsWith(prefix)) return undefined;
  const own = exposed.slice(prefix.length);
  return plainName({ server, own }, form) === exposed ? own : undefined;
}

/** Could `exposed` be the hashed name of something on this server? */
export function mayBeHashedName(exposed: string, server: string, form: NameForm): boolean {
  if (exposed.length > form.maxLength || !LEGAL.test(exposed) || !LOOKS_HASHED.test(exposed)) return false;
  const stem = exposed.slice(0, exposed.lastIndexOf(HASH_MARK));
  const hashLength = exposed.length - stem.length - HASH_MARK.length;
  return stem.startsWith(prefixOf(server, form).slice(0, stemLength(form, hashLength)));
}

/** Only where no other server and tool can give the same name; everything else is hashed. */
function plainName({ server, own }: NameParts, form: NameForm): string | undefined {
  if (own.length === 0 || own.length > form.maxLength) return undefined;
  // The first `__` must be the one between server and tool: `a` + `b__c` and `a__b` + `c` would meet otherwise.
  if (form.several && (server.includes(SEPARATOR) || server.endsWith("_") || own.startsWith("_"))) return undefined;
  const name = prefixOf(server, form) + own;
  if (name.length > form.maxLength || !LEGAL.test(name) || LOOKS_HASHED.test(name)) return undefined;
  return name;
}

function hashedName({ server, own }: NameParts, form: NameForm, hashLength: number): string {
  // Cut before cleaning: a server may send a name of a megabyte.
  const readable = plainLetters(own.slice(0, form.maxLength)).replace(/[^A-Za-z0-9_-]+/g, "_");
  const stem = prefixOf(server, form) + (trimEnds(readable, "_-") || "tool");
  return stem.slice(0, stemLength(form, hashLength)) + HASH_MARK + digest(server, own).slice(0, hashLength);
}

/** Letters without their accents, and full-width ones as usual: "größe" is better read as "grosse" than as "gr_e". */
function plainLetters(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text;
  const base = text.normalize("NFKD").replace(/\p{M}+/gu, "");
  return base.replace(/[ßæøœłđðþ]/giu, (letter) => LETTERS[letter.toLowerCase()] ?? letter);
}

/** Those that have no accent to be taken off. */
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
  // Half a surrogate pair has no UTF-8: all of them would become the same replacement character, and hash alike.
  // 0xff never occurs in UTF-8, so the two encodings cannot meet.
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
