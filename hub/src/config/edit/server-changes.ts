// Adds, replaces or removes one server in the text of the server file. Pure functions; the result is validated.

import { isDeepStrictEqual } from "node:util";
import { HubError } from "../../errors.ts";
import {
  SERVER_FILE,
  alreadyExists,
  findKey,
  namedEntries,
  parseServerDocument,
  toServers,
} from "../parse/documents.ts";
import type { ServerDocument } from "../parse/documents.ts";
import { removeMember, removeRepeats, renameMember, setMember } from "./edit.ts";
import { requireCredentials } from "../parse/env.ts";
import { normalizeServer } from "../parse/normalize.ts";
import { toPlainJson } from "../parse/plain-object.ts";
import { isObject } from "../../lib/json/json.ts";
import type { JsonObject } from "../parse/plain-object.ts";
import { findRisks } from "../parse/risks.ts";
import type { Risk } from "../parse/risks.ts";
import { parseWith, serverEntry } from "../schema/schema.ts";
import { requireDeclaredTransport, requireKnownHint } from "../parse/transport.ts";
import type { ServerConfig } from "../schema/types.ts";
import { quoted } from "../parse/error-path.ts";

/** Adds a server. `server` is the normal form of `entry`. */
export function addServer(text: string, server: ServerConfig, entry: unknown): string {
  requireSaveable(server, entry);
  const document = parseServerDocument(text);
  const { root, entries } = document;
  requireUnusedName(document, server);
  const { name: _name, ...written } = toObject(entry);
  const expected = { ...entries, [server.name]: written };
  return verified(setMember(text, [root, server.name], written), expected, server.name);
}

/** Replaces the server with this name. A different name in the new entry renames it. */
export function replaceServer(
  text: string,
  name: string,
  { server, entry }: { server: ServerConfig; entry: unknown },
): string {
  const document = parseServerDocument(text);
  const { root, entries } = document;
  const oldKey = requireKey(document, name);
  const { [oldKey]: old, ...others } = entries;
  requireSaveable(server, entry, { key: oldKey, entry: old });
  const isRenamed = server.name !== name;
  const key = isRenamed ? server.name : oldKey;
  requireUnusedName(document, server, oldKey);
  const written = toWritten(entry, { old, oldKey, isRenamed });
  const single = removeRepeats(text, [root, oldKey]);
  const renamed = key === oldKey ? single : renameMember(single, [root, oldKey], key);
  return verified(setMember(renamed, [root, key], written), { ...others, [key]: written }, server.name);
}

/** Removes the server with this name, valid or not. */
export function removeServer(text: string, name: string): string {
  const document = parseServerDocument(text);
  const key = requireKey(document, name);
  const { [key]: _removed, ...others } = document.entries;
  return verified(removeMember(removeRepeats(text, [document.root, key]), [document.root, key]), others);
}

/** The entry of the server with this name, as written. */
export function findEntry(text: string, name: string): JsonObject {
  const document = parseServerDocument(text);
  const entry = document.entries[requireKey(document, name)];
  return isObject(entry) ? entry : {};
}

/** Throws if a load would reject the new text or would not give the expected entries (CF-8). */
function verified(text: string, expected: Readonly<JsonObject>, changed?: string): string {
  const document = parseServerDocument(text);
  const isPresent =
    changed === undefined || toServers(document).some(({ name, invalid }) => name === changed && invalid === undefined);
  if (isPresent && isDeepStrictEqual(document.entries, expected)) return text;
  throw new HubError("Unexpected", `The change would have damaged ${SERVER_FILE}; nothing was saved`);
}

/** Throws if an entry may be in a file, but may not be saved through the hub. `old`: the entry that it replaces. */
export function requireSaveable(
  server: ServerConfig,
  entry: unknown,
  old?: { readonly key: string; readonly entry: unknown },
): void {
  requireCredentials(server);
  requireTransport(entry, old?.entry);
  requireNoNewRisks(server, old === undefined ? [] : knownRisks(old.key, old.entry));
}

/** A package saved through the hub must declare its transport. An unchanged one from the file need not. */
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

/** The entry to write. It keeps its key or `name` in the user's spelling, unless it is renamed. */
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

/** Names and ids are interchangeable, so neither may be the name or id of another server. */
function requireUnusedName(document: ServerDocument, { name, id }: ServerConfig, replacedKey?: string): void {
  const servers = toServers(document);
  const usedNames = namedEntries(document).flatMap(({ key, name: known, writtenAs }, index) => {
    if (key === replacedKey) return [];
    const other = servers[index];
    // An invalid entry reserves its name, which is needed to repair it, but not its id.
    return [key, known, writtenAs, other?.invalid === undefined ? other?.id : undefined];
  });
  if (usedNames.includes(name)) throw alreadyExists(name, "name");
  if (usedNames.includes(id)) throw alreadyExists(id, "id");
}

/** Settings that give access to the host can only be written into the file by hand. */
function requireNoNewRisks(server: ServerConfig, known: readonly Risk[]): void {
  const added = findRisks(server).find(({ reason }) => !known.some((risk) => risk.reason === reason));
  if (added === undefined) return;
  throw new HubError("InvalidConfig", `Not allowed here: ${added.reason}`, {
    field: added.field,
    hint: `If you want it, edit ${SERVER_FILE} by hand`,
  });
}

function knownRisks(key: string, entry: unknown): Risk[] {
  try {
    return findRisks(normalizeServer(key, entry));
  } catch {
    // The old entry is invalid, so it justifies no risks.
    return [];
  }
}
