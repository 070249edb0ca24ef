// An export as the user has it: one file, a folder, or a zip. Who reads it sees files with names, and their bytes.

import { open, readdir, stat } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { openPromise, type Entry, type ZipFile } from "yauzl";
import { ChatError } from "../errors.ts";

export interface Member {
  /** With `/` between folders. */
  readonly name: string;
  readonly sizeBytes: number;
  /** From the beginning, as often as asked. Who stops early lets go of the file by ending the iteration. */
  chunks(reader: ChunkReader): AsyncIterable<Buffer>;
}

export interface ChunkReader {
  readonly signal: AbortSignal;
  /** The bytes end here, since what comes is damaged. */
  readonly onDamage: (why: string) => void;
}

export interface Archive {
  readonly members: readonly Member[];
  close(): void;
}

const CHUNK_BYTES = 1 << 20;
/** More is no chat export, and would fill the memory with names. */
const MAX_MEMBERS = 500_000;
const ZIP_HEADS = ["PK\u0003\u0004", "PK\u0005\u0006"];

export async function openArchive(path: string): Promise<Archive> {
  try {
    const info = await stat(path);
    if (info.isDirectory()) return await openFolder(path);
    const head = await readHead(path, 4);
    if (ZIP_HEADS.includes(head.toString("latin1"))) return await openZip(path);
    return { members: [fileMember(path, basename(path), info.size)], close: () => undefined };
  } catch (error) {
    if (error instanceof ChatError) throw error;
    throw unreadable(path, error);
  }
}

/** Its first bytes; as many as there are. */
export async function readHead(path: string, bytes: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function openFolder(path: string): Promise<Archive> {
  const found = await readdir(path, { recursive: true, withFileTypes: true });
  if (found.length > MAX_MEMBERS) throw tooMany(path);
  const members: Member[] = [];
  for (const item of found) {
    if (!item.isFile()) continue;
    const full = join(item.parentPath, item.name);
    const name = full.slice(path.length).split(sep).filter(Boolean).join("/");
    members.push(fileMember(full, name, (await stat(full)).size));
  }
  return { members, close: () => undefined };
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

async function openZip(path: string): Promise<Archive> {
  const zip = await openPromise(path, { autoClose: false, lazyEntries: true });
  const members: Member[] = [];
  try {
    for await (const entry of zip.eachEntry()) {
      if (members.length >= MAX_MEMBERS) throw tooMany(path);
      if (entry.fileName.endsWith("/")) continue;
      members.push({
        name: entry.fileName,
        sizeBytes: entry.uncompressedSize,
        chunks: (reader) => entryChunks(zip, entry, reader),
      });
    }
  } catch (error) {
    zip.close();
    throw error;
  }
  return { members, close: () => zip.close() };
}

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
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ChatError(
    "IMPORT_FAILED",
    `${path} cannot be read: ${reason}`,
    { field: "path", hint: "Check that the file is there, that you may read it, and that its download was complete" },
    cause,
  );
}

function tooMany(path: string): ChatError {
  return new ChatError("IMPORT_FAILED", `${path} holds more than ${MAX_MEMBERS} files: that is no chat export`, {
    field: "path",
    hint: "Name the folder or file of the export itself",
  });
}
