// One change of a client's file: the hub's own entry set or removed, everything else as it was. Locked, checked before and
// after, with a copy of the old text kept. The file is the old one or the new one, whatever instant the process dies at.

import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { removeStaleTemps, resolveLinks, writeFileAtomic } from "../atomic.ts";
import { isObject, type JsonObject } from "../config/plain.ts";
import { readTextFile } from "../config/text-file.ts";
import { HubError } from "../errors.ts";
import { withLock } from "../lock.ts";
import { hashOf, type Backup, type Backups } from "./backups.ts";
import { entriesIn, type ClientFile } from "./file.ts";
import { editorFor, spotOf, type Editor } from "./format.ts";
import { isOwnEntry } from "./own.ts";
import { OWN_NAME } from "./own-entry.ts";

export interface Change {
  readonly file: ClientFile;
  readonly kind: "added" | "replaced" | "removed" | "none";
  readonly before?: unknown;
  readonly after?: JsonObject;
  /** How many other servers the file has. */
  readonly others: number;
  /** Those of the client's own that were taken out. */
  readonly removed: readonly string[];
  readonly backup?: Backup;
}

export interface ChangeOptions {
  readonly backups: Backups;
  /** Says what would be done, and does nothing. */
  readonly dryRun: boolean;
  /** Of the running hub. */
  readonly address?: string | undefined;
  /** The client's own servers that are to go, since the hub has them. */
  readonly takeOver?: readonly string[];
}

/** They hold credentials as often as not. */
const NEW_FILE_MODE = 0o600;

/** Puts the hub into a client's file, or changes how it stands there. */
export async function installInto(file: ClientFile, entry: JsonObject, options: ChangeOptions): Promise<Change> {
  return edited(file, options, (state) => {
    const { editor, text, own, names } = state;
    if (own !== undefined && !isOwnEntry(own, file.client, options.address)) throw conflict(file);
    const removed = (options.takeOver ?? []).filter((name) => name !== OWN_NAME && names.includes(name));
    const isThere = own !== undefined && isDeepStrictEqual(own, named(file, entry));
    if (isThere && removed.length === 0) return { text, kind: "none", after: entry };
    const left = removed.reduce((rest, name) => editor.remove(rest, spotOf(file.client, name)), text);
    const changed = isThere ? left : editor.set(left, spotOf(file.client, OWN_NAME), entry);
    return { text: changed, kind: own === undefined ? "added" : "replaced", after: entry, removed };
  });
}

/** Takes the hub out of a client's file. Where nobody else has changed it since, it is what it was before. */
export async function uninstallFrom(file: ClientFile, options: ChangeOptions): Promise<Change> {
  return edited(file, options, async (state) => {
    const { editor, text, own, names } = state;
    if (own === undefined) return { text, kind: "none" };
    if (!isOwnEntry(own, file.client, options.address)) throw conflict(file);
    const before = await textBefore(state, file, options.backups);
    if (before !== undefined) {
      const entries = entriesIn(editor.parse(before.text ?? "", file.path), file.client);
      const returned = entries.map(([name]) => name).filter((name) => !names.includes(name));
      return { text: before.text, kind: "removed", returned };
    }
    return { text: editor.remove(text, spotOf(file.client, OWN_NAME)), kind: "removed" };
  });
}

/** Puts a file back as it was. What it is now is kept, too. */
export async function restoreBackup(file: ClientFile, backup: Backup, backups: Backups): Promise<Backup> {
  const target = await resolveLinks(backup.path);
  return withLock(target, async () => {
    const now = await readTextFile(target);
    const kept = await keep(file, { text: now && now.mark + now.text, mode: now?.mode, next: backup.text }, backups);
    if (backup.text === undefined) await rm(target, { force: true });
    else await writeFileAtomic(target, backup.text, { mode: backup.mode });
    return kept;
  });
}

interface State {
  readonly editor: Editor;
  readonly text: string;
  /** What stands under our name. */
  readonly own: unknown;
  /** Of all servers. */
  readonly names: readonly string[];
}

interface Edit {
  /** Undefined: there was no file. */
  readonly text: string | undefined;
  readonly kind: Change["kind"];
  readonly after?: JsonObject;
  readonly removed?: readonly string[];
  /** Servers of the client's own that were taken out when the hub was put in. */
  readonly returned?: readonly string[];
}

async function edited(
  file: ClientFile,
  { backups, dryRun }: ChangeOptions,
  edit: (state: State) => Edit | Promise<Edit>,
): Promise<Change> {
  const { client } = file;
  const target = await resolveLinks(file.path);
  const editor = await editorFor(client.format);
  const run = async (): Promise<Change> => {
    if (!dryRun) await removeStaleTemps(dirname(target));
    const found = await readTextFile(target);
    const text = found?.text ?? "";
    const data = editor.parse(text, file.path);
    requireMap(data, file);
    const entries = entriesIn(data, client);
    const own = entries.find(([name]) => name === OWN_NAME)?.[1];
    const names = entries.map(([name]) => name);
    const { text: next, kind, after, removed = [], returned = [] } = await edit({ editor, text, own, names });
    const others = names.filter((name) => name !== OWN_NAME && !removed.includes(name)).length;
    const change: Change = {
      file,
      kind,
      others,
      removed,
      ...(own === undefined ? {} : { before: own }),
      ...(after && { after }),
    };
    requireSound(editor, file, {
      before: data,
      text: next ?? "",
      after: kind === "removed" ? undefined : after,
      removed,
      returned,
    });
    if (kind === "none" || dryRun) return change;
    const mark = found?.mark ?? "";
    const written = next === undefined ? undefined : mark + next;
    const mode = found?.mode ?? NEW_FILE_MODE;
    const backup = await keep(file, { text: found && mark + text, mode, next: written }, backups);
    if (written === undefined) await rm(target, { force: true });
    else await writeFileAtomic(target, written, { mode });
    await requireWritten(target, written, backup);
    return { ...change, backup };
  };
  return dryRun ? run() : withLock(target, run);
}

function keep(
  { client, path }: ClientFile,
  { text, mode, next }: { text: string | undefined; mode: number | undefined; next: string | undefined },
  backups: Backups,
): Promise<Backup> {
  return backups.add({
    client: client.id,
    path,
    text,
    mode: mode ?? NEW_FILE_MODE,
    replacedBy: hashOf(unmarked(next)),
  });
}

/** A byte order mark is none of the text. */
function unmarked(text: string | undefined): string {
  return (text ?? "").replace(/^\uFEFF/, "");
}

/** What the file was before we came, if all that was done to it since is ours. */
async function textBefore(
  { editor, text }: State,
  file: ClientFile,
  backups: Backups,
): Promise<{ text: string | undefined } | undefined> {
  let current = text;
  for (const backup of await backups.list(file.client.id)) {
    if (backup.path !== file.path || backup.replacedBy !== hashOf(current)) continue;
    current = unmarked(backup.text);
    const data = editor.parse(current, file.path);
    if (!entriesIn(data, file.client).some(([name]) => name === OWN_NAME)) return { text: backup.text && current };
  }
  return undefined;
}

/** Nothing is written that says anything else than before, our own entry apart. */
function requireSound(editor: Editor, file: ClientFile, { before, text, after, removed, returned }: Sound): void {
  let data: unknown;
  try {
    data = editor.parse(text, file.path);
  } catch (cause) {
    throw unsound(file, cause);
  }
  const own = entriesIn(data, file.client).find(([name]) => name === OWN_NAME)?.[1];
  const isOwn = isDeepStrictEqual(own, after === undefined ? undefined : named(file, after));
  const now = foreignIn(data, file, new Set([OWN_NAME, ...returned]));
  const isSame = isDeepStrictEqual(now, foreignIn(before, file, new Set([OWN_NAME, ...removed])));
  if (!isOwn || !isSame) throw unsound(file, undefined);
}

interface Sound {
  readonly before: unknown;
  readonly text: string;
  readonly after: JsonObject | undefined;
  readonly removed: readonly string[];
  readonly returned: readonly string[];
}

/** All but these entries; where nothing else is left on the way to them, that is nothing. */
function foreignIn(data: unknown, { client }: ClientFile, ours: ReadonlySet<string>): unknown {
  const without = (value: unknown, path: readonly string[]): unknown => {
    const [key, ...rest] = path;
    if (key === undefined) {
      if (Array.isArray(value)) {
        const kept = value.filter((item: unknown) => !(isObject(item) && ours.has(String(item["name"]))));
        return kept.length === 0 ? undefined : kept;
      }
      if (!isObject(value)) return value ?? undefined;
      const others = Object.fromEntries(Object.entries(value).filter(([name]) => !ours.has(name)));
      return Object.keys(others).length === 0 ? undefined : others;
    }
    if (!isObject(value)) return value ?? undefined;
    const { [key]: inner, ...others } = value;
    const left = without(inner, rest);
    const all = left === undefined ? others : { ...others, [key]: left };
    return Object.keys(all).length === 0 ? undefined : all;
  };
  return without(data, client.root);
}

/** In a list, the entry has its name in it. */
function named({ client }: ClientFile, entry: JsonObject): JsonObject {
  return client.list === true ? { name: OWN_NAME, ...entry } : entry;
}

/** A file whose servers are something else than servers is not ours to repair. */
function requireMap(data: unknown, { client, path }: ClientFile): void {
  let value = data;
  for (const key of ["", ...client.root]) {
    if (key !== "") value = isObject(value) ? value[key] : undefined;
    if (value === undefined || value === null) return;
    const isLast = key === client.root.at(-1);
    if (isLast && client.list === true ? Array.isArray(value) : isObject(value)) continue;
    const what = key === "" ? "its top level" : `"${client.root.join(".")}"`;
    throw new HubError("InvalidConfig", `${path}: ${what} is not what ${client.name} expects`, {
      hint: "Correct it first; nothing was changed",
    });
  }
}

/** Somebody wrote it in the same moment, without the lock; or the disk did not keep it. */
async function requireWritten(target: string, text: string | undefined, backup: Backup): Promise<void> {
  const found = await readTextFile(target).catch(() => undefined);
  if ((found && found.mark + found.text) === text) return;
  throw new HubError("StaleConfig", `${target} was changed by somebody else at the same time`, {
    hint: `What it said before: plugboard backup restore ${backup.client} ${backup.when}`,
  });
}

function conflict({ client, path }: ClientFile): HubError {
  const place = [...client.root, OWN_NAME].join(".");
  return new HubError("ServerAlreadyExists", `${path} has another server called "${OWN_NAME}"`, {
    field: place,
    hint: `Rename or remove ${place} there first`,
  });
}

function unsound({ path }: ClientFile, cause: unknown): HubError {
  return new HubError("InvalidConfig", `${path} is written in a way that this change would damage; nothing was saved`, {
    hint: "Add the server by hand: its command is plugboard stdio",
    cause,
  });
}
