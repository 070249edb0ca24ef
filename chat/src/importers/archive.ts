// Opens an export: one file, a folder or a zip. Importers see named members with their bytes.

import { open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { openPromise, type Entry, type ZipFile } from "yauzl";
import { ChatError } from "../errors.ts";
import type { ImportLimits } from "../model/source.ts";
import { requireEntries, requireWithinLimits, withDefaults, type DeclaredFile } from "./import-limits.ts";

/** A file of an export. The size is the one the file system or the zip directory declares. */
export interface Member extends DeclaredFile {
  /** Relative, with `/` as separator. */
  readonly name: string;
  /** Starts at the first byte on each call. Ending the iteration early closes the file. */
  chunks(reader: ChunkReader): AsyncIterable<Buffer>;
}

export interface ChunkReader {
  readonly signal: AbortSignal;
  /** Called when the rest of the member cannot be read. */
  readonly onDamage: (why: string) => void;
}

export interface Archive {
  readonly kind: "file" | "folder" | "zip";
  /** Absolute path of the folder or zip. For a single file, the folder that contains it. */
  readonly root: string;
  readonly members: readonly Member[];
  /** Throws if reading these members would exceed the limits. Called before the first one is read. */
  checkLimits(members: readonly Member[]): void;
  close(): void;
}

const CHUNK_BYTES = 1 << 20;
const ZIP_HEADS = ["PK\u0003\u0004", "PK\u0005\u0006"];

export async function openArchive(path: string, given?: Partial<ImportLimits>): Promise<Archive> {
  const limits = withDefaults(given);
  const admit = (members: readonly Member[]): void => requireWithinLimits(limits, path, members, undefined);
  const root = resolve(path);
  try {
    const info = await stat(path);
    if (info.isDirectory()) {
      return {
        kind: "folder",
        root,
        members: await folderMembers(path, limits),
        checkLimits: admit,
        close: () => undefined,
      };
    }
    const head = await readHead(path, 4);
    if (ZIP_HEADS.includes(head.toString("latin1"))) return await openZip(path, info.size, limits);
    const members = [fileMember(path, basename(path), info.size)];
    return { kind: "file", root: dirname(root), members, checkLimits: admit, close: () => undefined };
  } catch (error) {
    if (error instanceof ChatError) throw error;
    throw unreadable(path, error);
  }
}

/** The first bytes of a file; fewer if the file is shorter. */
export async function readHead(path: string, bytes: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function folderMembers(path: string, limits: ImportLimits): Promise<readonly Member[]> {
  const found = await readdir(path, { recursive: true, withFileTypes: true });
  requireEntries(limits, path, found.length);
  const members: Member[] = [];
  for (const item of found) {
    if (!item.isFile()) continue;
    const full = join(item.parentPath, item.name);
    const name = full.slice(path.length).split(sep).filter(Boolean).join("/");
    members.push(fileMember(full, name, (await stat(full)).size));
  }
  return members;
}

function fileMember(path: string, name: string, sizeBytes: number): Member {
  return { name, sizeBytes, chunks: ({ signal }) => fileChunks(path, signal) };
}

async function* fileChunks(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const file = await open(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    for (;;) {
      signal.throwIfAborted();
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function openZip(path: string, archiveBytes: number, limits: ImportLimits): Promise<Archive> {
  const zip = await openPromise(path, { autoClose: false, lazyEntries: true });
  const members: Member[] = [];
  try {
    requireEntries(limits, path, zip.entryCount);
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName.endsWith("/")) continue;
      members.push({
        name: entry.fileName,
        sizeBytes: entry.uncompressedSize,
        packedBytes: entry.compressedSize,
        chunks: (reader) => entryChunks(zip, entry, reader),
      });
    }
  } catch (error) {
    zip.close();
    throw error;
  }
  return {
    kind: "zip",
    root: resolve(path),
    members,
    checkLimits: (wanted) => requireWithinLimits(limits, path, wanted, archiveBytes),
    close: () => zip.close(),
  };
}

/** Yields at most the declared size, which was checked against the limits. A longer entry is reported as damage. */
async function* entryChunks(zip: ZipFile, entry: Entry, { signal, onDamage }: ChunkReader): AsyncGenerator<Buffer> {
  signal.throwIfAborted();
  try {
    const stream = await zip.openReadStreamPromise(entry);
    for await (const chunk of stream) {
      signal.throwIfAborted();
      if (Buffer.isBuffer(chunk)) yield chunk;
    }
  } catch (error) {
    if (signal.aborted) throw error;
    onDamage(`the zip is damaged (${error instanceof Error ? error.message : String(error)})`);
  }
}

export function unreadable(path: string, cause: unknown): ChatError {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const [message, hint] =
    code === "ENOENT"
      ? [`${path} does not exist`, `Check the path. Relative paths start at ${process.cwd()}`]
      : code === "EACCES" || code === "EPERM"
        ? [`No permission to read ${path}`, "Allow your user to read it, or copy it to a folder of yours"]
        : [`Cannot read ${path}: ${reason}`, "Check that the download is complete"];
  return new ChatError("IMPORT_FAILED", message, { field: "path", hint }, cause);
}
