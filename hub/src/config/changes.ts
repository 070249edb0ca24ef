// One server added, replaced or removed in the text of the server file. Pure: text in, text out, checked before it is
// handed back. Reading and saving is left to file.ts.

import { isDeepStrictEqual } from "node:util";
import { HubError } from "../errors.ts";
import { SERVER_FILE, alreadyExists, findKey, namedEntries, parseServerDocument, toServers } from "./documents.ts";
import type { ServerDocument } from "./documents.ts";
import { removeMember, removeRepeats, renameMember, setMember } from "./edit.ts";
import { requireCredentials } from "./env.ts";
import { normalizeServer } from "./normalize.ts";
import { isObject, toPlainJson } from "./plain.ts";
import type { JsonObject } from "./plain.ts";
import { findRisks } from "./risks.ts";
import type { Risk } from "./risks.ts";
import { parseWith, serverEntry } from "./schema.ts";
import { requireDeclaredTransport, requireKnownHint } from "./transport.ts";
import type { ServerConfig } from "./types.ts";
import { quoted } from "./where.ts";

/** Adds a server, whose entry was normalised to `server`. */
export function addServer(text: string, server: ServerConfig, entry: unknown): string {
  requireCredentials(server);
  requireTransport(entry, undefined);
  requireNoNewRisks(server, []);
  const document = parseServerDocument(text);
  const { root, entries } = document;
  requireFree(document, server);
  const { name: _name, ...written } = toObject(entry);
  const expected = { ...entries, [server.name]: written };
  return sound(setMember(text, [root, server.name], written), expected, server.name);
}

/** Replaces the server of this name, and renames it where the new entry has another name. */
export function replaceServer(
  text: string,
  name: string,
  { server, entry }: { server: ServerConfig; entry: unknown },
): string {
  requireCredentials(server);
  const document = parseServerDocument(text);
  const { root, entries } = document;
  const oldKey = requireKey(document, name);
  const { [oldKey]: old, ...others } = entries;
  requireTransport(entry, old);
  requireNoNewRisks(server, knownRisks(oldKey, old));
  const isRenamed = server.name !== name;
  const key = isRenamed ? server.name : oldKey;
  requireFree(document, server, oldKey);
  const written = toWritten(entry, { old, oldKey, isRenamed });
  const single = removeRepeats(text, [root, oldKey]);
  const renamed = key === oldKey ? single : renameMember(single, [root, oldKey], key);
  return sound(setMember(renamed, [root, key], written), { ...others, [key]: written }, server.name);
}

/** Removes the server of this name, which may be a broken one. */
export function removeServer(text: string, name: string): string {
  const document = parseServerDocument(text);
  const key = requireKey(document, name);
  const { [key]: _removed, ...others } = document.entries;
  return sound(removeMember(removeRepeats(text, [document.root, key]), [document.root, key]), others);
}

/** The entry of the server of this name, as it is written. */
export function findEntry(text: string, name: string): JsonObject {
  const document = parseServerDocument(text);
  const entry = document.entries[requireKey(document, name)];
  return isObject(entry) ? entry : {};
}

/** Nothing is saved that a load would refuse, or that says more or less than was meant (CF-8). */
function sound(text: string, expected: Readonly<JsonObject>, changed?: string): string {
  const document = parseServerDocument(text);
  const isThere =
    changed === undefined || toServers(document).some(({ name, invalid }) => name === changed && invalid === undefined);
  if (isThere && isDeepStrictEqual(document.entries, expected)) return text;
  throw new HubError("Unexpected", `The change would have damaged ${SERVER_FILE}; nothing was saved`);
}

/** What a file has already is taken as it is; what is saved through the hub follows S0 to the letter. */
function requireTransport(entry: unknown, old: unknown): void {
  const parsed = parseWith(serverEntry, toPlainJson(entry));
  const known = isObject(old) ? old["package"] : undefined;
  if (known === undefined || !isDeepStrictEqual(toPlainJson(parsed.package), known)) {
    requireDeclaredTransport(parsed);
    requireKnownHint(parsed);
  }
}

interface Naming {
  readonly old: unknown;
  readonly oldKey: string;
  readonly isRenamed: boolean;
}

/** The entry as the user gave it. It is named as it was, by its key or by its own `name`, in the user's spelling. */
function toWritten(entry: unknown, { old, oldKey, isRenamed }: Naming): JsonObject {
  const { name: _name, ...rest } = toObject(entry);
  const { name: ownName } = toObject(old ?? {});
  if (isRenamed) return rest;
  if (typeof ownName === "string" && ownName.trim() !== oldKey) return { name: ownName, ...rest };
  return rest;
}

function toObject(entry: unknown): JsonObject {
  const json = toPlainJson(entry);
  return isObject(json) ? json : {};
}

function requireKey(document: ServerDocument, name: string): string {
  const key = findKey(document, name);
  if (key === undefined) throw new HubError("ServerNotFound", `Server ${quoted(name)} not found`);
  return key;
}

/** A name can be used wherever an id can: neither may be another's name or id. */
function requireFree(document: ServerDocument, { name, id }: ServerConfig, replacedKey?: string): void {
  const servers = toServers(document);
  const handles = namedEntries(document).flatMap(({ key, name: known, writtenAs }, index) => {
    if (key === replacedKey) return [];
    const other = servers[index];
    // An entry that is left out holds its name, by which it is repaired, but no id.
    return [key, known, writtenAs, other?.invalid === undefined ? other?.id : undefined];
  });
  if (handles.includes(name)) throw alreadyExists(name, "name");
  if (handles.includes(id)) throw alreadyExists(id, "id");
}

/** What gives a server power over the machine is written into the file by a person, or not at all. */
function requireNoNewRisks(server: ServerConfig, known: readonly Risk[]): void {
  const added = findRisks(server).find(({ reason }) => !known.some((risk) => risk.reason === reason));
  if (added === undefined) return;
  throw new HubError("InvalidConfig", `Not allowed here: ${added.reason}`, {
    field: added.field,
    hint: `If you mean it, write it into ${SERVER_FILE} by hand`,
  });
}

function knownRisks(key: string, entry: unknown): Risk[] {
  try {
    return findRisks(normalizeServer(key, entry));
  } catch {
    // The old entry is broken, and this change repairs it: it vouches for nothing.
    return [];
  }
}
