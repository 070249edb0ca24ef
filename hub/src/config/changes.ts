// One server added, replaced or removed in the text of the server file. Pure: text in, text out, checked before it is
// handed back. Reading and saving is left to file.ts.

import { isDeepStrictEqual } from "node:util";
import { HubError } from "../errors.ts";
import { SERVER_FILE, alreadyExists, findKey, parseServerDocument, toServers } from "./documents.ts";
import { removeMember, renameMember, setMember } from "./edit.ts";
import { requireCredentials } from "./env.ts";
import { nameOf, normalizeServer } from "./normalize.ts";
import { isObject, toPlainJson } from "./plain.ts";
import type { JsonObject } from "./plain.ts";
import { findRisks } from "./risks.ts";
import type { Risk } from "./risks.ts";
import type { ServerConfig } from "./types.ts";
import { quoted } from "./where.ts";

/** Adds a server, whose entry was normalised to `server`. */
export function addServer(text: string, server: ServerConfig, entry: unknown): string {
  requireCredentials(server);
  requireNoNewRisks(server, []);
  const { root, entries } = parseServerDocument(text);
  requireFree(entries, server);
  const written = toWritten(entry, { name: server.name, key: server.name });
  return sound(setMember(text, [root, server.name], written), { ...entries, [server.name]: written });
}

/** Replaces the server of this name, and renames it where the new entry has another name. */
export function replaceServer(
  text: string,
  name: string,
  { server, entry }: { server: ServerConfig; entry: unknown },
): string {
  requireCredentials(server);
  const { root, entries } = parseServerDocument(text);
  const oldKey = requireKey(entries, name);
  const { [oldKey]: old, ...others } = entries;
  requireNoNewRisks(server, knownRisks(oldKey, old));
  const key = server.name === name ? oldKey : server.name;
  requireFree(others, server);
  const written = toWritten(entry, { name: server.name, key });
  const renamed = key === oldKey ? text : renameMember(text, [root, oldKey], key);
  return sound(setMember(renamed, [root, key], written), { ...others, [key]: written });
}

/** Removes the server of this name, which may be a broken one. */
export function removeServer(text: string, name: string): string {
  const { root, entries } = parseServerDocument(text);
  const key = requireKey(entries, name);
  const { [key]: _removed, ...others } = entries;
  return sound(removeMember(text, [root, key]), others);
}

/** The entry of the server of this name, as it is written. */
export function findEntry(text: string, name: string): JsonObject {
  const { entries } = parseServerDocument(text);
  const entry = entries[requireKey(entries, name)];
  return isObject(entry) ? entry : {};
}

/** Nothing is saved that a load would refuse, or that says more or less than was meant (CF-8). */
function sound(text: string, expected: Readonly<JsonObject>): string {
  const document = parseServerDocument(text);
  toServers(document);
  if (isDeepStrictEqual(document.entries, expected)) return text;
  throw new HubError("Unexpected", `The change would have damaged ${SERVER_FILE}; nothing was saved`);
}

/** The entry as the user gave it. Its key names it, so `name` is left out where both say the same. */
function toWritten(entry: unknown, { name, key }: { name: string; key: string }): JsonObject {
  const json = toPlainJson(entry);
  const { name: _name, ...rest } = isObject(json) ? json : {};
  return key === name ? rest : { name, ...rest };
}

function requireKey(entries: Readonly<JsonObject>, name: string): string {
  const key = findKey(entries, name);
  if (key === undefined) throw new HubError("ServerNotFound", `Server ${quoted(name)} not found`);
  return key;
}

/** A name can be used wherever an id can: neither may be another's name or id. */
function requireFree(entries: Readonly<JsonObject>, { name, id }: ServerConfig): void {
  const handles = Object.entries(entries).flatMap(([key, entry]) => {
    const written = [nameOf(key, entry), isObject(entry) ? entry["id"] : undefined];
    return written.flatMap((text) => (typeof text === "string" ? [text.trim()] : []));
  });
  if (Object.hasOwn(entries, name) || handles.includes(name)) throw alreadyExists(name, "name");
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
