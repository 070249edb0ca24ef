// Sets or removes the hub's entry in a client's file and keeps everything else. The file is locked, checked before and after, and
// backed up. A kill at any time leaves the old or the new file.

import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { writeFileAtomic } from "../../lib/files/atomic.ts";
import { removeStaleTemps, resolveLinks } from "@plugboard/shared/files/atomic";
import type { JsonObject } from "../../config/parse/plain-object.ts";
import { isObject } from "../../lib/json/json.ts";
import { readTextFile } from "../../config/files/text-file.ts";
import { HubError } from "../../errors.ts";
import { withLock } from "../../lib/files/lock.ts";
import { hashOf, type Backup, type Backups } from "./backups.ts";
import { entriesIn, type ClientFile } from "../file.ts";
import { editorFor, entryLocation, type Editor } from "../formats/format.ts";
import { isHubEntry } from "./detect-hub.ts";
import { HUB_NAME } from "./hub-entry.ts";

export interface Change {
  readonly file: ClientFile;
  readonly kind: "added" | "replaced" | "removed" | "none";
  readonly before?: unknown;
  readonly after?: JsonObject;
  /** Number of other servers in the file. */
  readonly others: number;
  /** Servers of the client that were removed. */
  readonly removed: readonly string[];
  readonly backup?: Backup;
  /** The file before and after the change. */
  readonly texts: { readonly before: string; readonly after: string };
}

export interface ChangeOptions {
  readonly backups: Backups;
  /** Report the change without making it. */
  readonly dryRun: boolean;
  /** Address of the running hub. */
  readonly address?: string | undefined;
  /** Servers of the client to remove, because the hub has them. */
  readonly takeOver?: readonly string[];
}

/** Client files often contain credentials. */
const NEW_FILE_MODE = 0o600;

/** Adds the hub to a client's file, or changes its entry. */
export async function installInto(file: ClientFile, entry: JsonObject, options: ChangeOptions): Promise<Change> {
  return editFile(file, options, (state) => {
    const { editor, text, own, names } = state;
    if (own !== undefined && !isHubEntry(own, file.client, options.address)) throw conflict(file);
    const removed = (options.takeOver ?? []).filter((name) => name !== HUB_NAME && names.includes(name));
    const isInstalled = own !== undefined && isDeepStrictEqual(own, named(file, entry));
    if (isInstalled && removed.length === 0) return { text, kind: "none", after: entry };
    const left = removed.reduce((rest, name) => editor.remove(rest, entryLocation(file.client, name)), text);
    const changed = isInstalled ? left : editor.set(left, entryLocation(file.client, HUB_NAME), entry);
    return { text: changed, kind: own === undefined ? "added" : "replaced", after: entry, removed };
  });
}

/** Removes the hub from a client's file. Restores the original text if the file was not changed since. */
export async function uninstallFrom(file: ClientFile, options: ChangeOptions): Promise<Change> {
  return editFile(file, options, async (state) => {
    const { editor, text, own, names } = state;
    if (own === undefined) return { text, kind: "none" };
    if (!isHubEntry(own, file.client, options.address)) throw conflict(file);
    const before = await textBefore(state, file, options.backups);
    if (before !== undefined) {
      const entries = entriesIn(editor.parse(before.text ?? "", file.path), file.client);
      const returned = entries.map(([name]) => name).filter((name) => !names.includes(name));
      return { text: before.text, kind: "removed", returned };
    }
    return { text: editor.remove(text, entryLocation(file.client, HUB_NAME)), kind: "removed" };
  });
}

/** Restores a file from a backup, after a backup of the current one. */
export async function restoreBackup(file: ClientFile, backup: Backup, backups: Backups): Promise<Backup> {
  const target = await resolveLinks(backup.path);
  return withLock(target, async () => {
    const now = await readTextFile(target);
    const kept = await saveBackup(
      file,
      { text: now && now.byteOrderMark + now.text, mode: now?.mode, next: backup.text },
      backups,
    );
    if (backup.text === undefined) await rm(target, { force: true });
    else await writeFileAtomic(target, backup.text, { mode: backup.mode });
    return kept;
  });
}

interface State {
  readonly editor: Editor;
  readonly text: string;
  /** The entry with the hub's name. */
  readonly own: unknown;
  /** Names of all servers. */
  readonly names: readonly string[];
}

interface Edit {
  /** Undefined: remove the file. */
  readonly text: string | undefined;
  readonly kind: Change["kind"];
  readonly after?: JsonObject;
  readonly removed?: readonly string[];
  /** Servers of the client that are back, because the original text is restored. */
  readonly returned?: readonly string[];
}

async function editFile(
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
    requireServerMap(data, file);
    const entries = entriesIn(data, client);
    const own = entries.find(([name]) => name === HUB_NAME)?.[1];
    const names = entries.map(([name]) => name);
    const { text: next, kind, after, removed = [], returned = [] } = await edit({ editor, text, own, names });
    const others = names.filter((name) => name !== HUB_NAME && !removed.includes(name)).length;
    const change: Change = {
      file,
      kind,
      others,
      removed,
      texts: { before: text, after: next ?? "" },
      ...(own === undefined ? {} : { before: own }),
      ...(after && { after }),
    };
    requireOnlyOwnChange(editor, file, {
      before: data,
      text: next ?? "",
      after: kind === "removed" ? undefined : after,
      removed,
      returned,
    });
    if (kind === "none" || dryRun) return change;
    const byteOrderMark = found?.byteOrderMark ?? "";
    const written = next === undefined ? undefined : byteOrderMark + next;
    const mode = found?.mode ?? NEW_FILE_MODE;
    const backup = await saveBackup(file, { text: found && byteOrderMark + text, mode, next: written }, backups);
    if (written === undefined) await rm(target, { force: true });
    else await writeFileAtomic(target, written, { mode });
    await requireWritten(target, written, backup);
    return { ...change, backup };
  };
  return dryRun ? run() : withLock(target, run);
}

function saveBackup(
  { client, path }: ClientFile,
  { text, mode, next }: { text: string | undefined; mode: number | undefined; next: string | undefined },
  backups: Backups,
): Promise<Backup> {
  return backups.add({
    client: client.id,
    path,
    text,
    mode: mode ?? NEW_FILE_MODE,
    replacedBy: hashOf(withoutByteOrderMark(next)),
  });
}

/** Hashes do not include the byte order mark. */
function withoutByteOrderMark(text: string | undefined): string {
  return (text ?? "").replace(/^\uFEFF/, "");
}

/** The text before the hub was added, if only the hub has changed the file since. */
async function textBefore(
  { editor, text }: State,
  file: ClientFile,
  backups: Backups,
): Promise<{ text: string | undefined } | undefined> {
  let current = text;
  for (const backup of await backups.list(file.client.id)) {
    if (backup.path !== file.path || backup.replacedBy !== hashOf(current)) continue;
    current = withoutByteOrderMark(backup.text);
    const data = editor.parse(current, file.path);
    if (!entriesIn(data, file.client).some(([name]) => name === HUB_NAME)) return { text: backup.text && current };
  }
  return undefined;
}

/** Throws if the new text differs from the old one in anything but the expected entries. */
function requireOnlyOwnChange(
  editor: Editor,
  file: ClientFile,
  { before, text, after, removed, returned }: Expected,
): void {
  let data: unknown;
  try {
    data = editor.parse(text, file.path);
  } catch (cause) {
    throw wouldDamage(file, cause);
  }
  const own = entriesIn(data, file.client).find(([name]) => name === HUB_NAME)?.[1];
  const isOwn = isDeepStrictEqual(own, after === undefined ? undefined : named(file, after));
  const now = foreignIn(data, file, new Set([HUB_NAME, ...returned]));
  const isSame = isDeepStrictEqual(now, foreignIn(before, file, new Set([HUB_NAME, ...removed])));
  if (!isOwn || !isSame) throw wouldDamage(file, undefined);
}

interface Expected {
  readonly before: unknown;
  readonly text: string;
  readonly after: JsonObject | undefined;
  readonly removed: readonly string[];
  readonly returned: readonly string[];
}

/** The data without the hub's entries. Objects that become empty are removed. */
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

/** In a list, the entry contains its name. */
function named({ client }: ClientFile, entry: JsonObject): JsonObject {
  return client.list === true ? { name: HUB_NAME, ...entry } : entry;
}

/** Throws if the servers are not of the expected type. The hub does not repair such files. */
function requireServerMap(data: unknown, { client, path }: ClientFile): void {
  let value = data;
  for (const key of ["", ...client.root]) {
    if (key !== "") value = isObject(value) ? value[key] : undefined;
    if (value === undefined || value === null) return;
    const isLast = key === client.root.at(-1);
    if (isLast && client.list === true ? Array.isArray(value) : isObject(value)) continue;
    const what = key === "" ? "its top level" : `"${client.root.join(".")}"`;
    throw new HubError("InvalidConfig", `${path}: ${what} is not what ${client.name} expects`, {
      hint: "Fix the file first; nothing was changed",
    });
  }
}

/** Throws if another program has written the file at the same time, without the lock. */
async function requireWritten(target: string, text: string | undefined, backup: Backup): Promise<void> {
  const found = await readTextFile(target).catch(() => undefined);
  if ((found && found.byteOrderMark + found.text) === text) return;
  throw new HubError("Conflict", `${target} was changed by another program at the same time`, {
    hint: `To restore the previous content: plugboard backup restore ${backup.client} ${backup.when}`,
  });
}

function conflict({ client, path }: ClientFile): HubError {
  const entryPath = [...client.root, HUB_NAME].join(".");
  return new HubError("ServerAlreadyExists", `${path} already has another server named "${HUB_NAME}"`, {
    field: entryPath,
    hint: `Rename or remove ${entryPath} first`,
  });
}

function wouldDamage({ path }: ClientFile, cause: unknown): HubError {
  return new HubError("InvalidConfig", `The change would damage ${path}; nothing was saved`, {
    hint: "Add the server by hand, with the command plugboard stdio",
    cause,
  });
}
