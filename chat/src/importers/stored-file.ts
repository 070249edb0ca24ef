// Opens a media file of an imported export. The export may have been moved or changed since; links that lead out of it are not
// followed.

import { constants } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { openPromise, type Entry, type ZipFile } from "yauzl";
import { ChatError } from "../errors.ts";
import type { AttachmentFile } from "../model/source.ts";

export interface StoredFile {
  readonly sizeBytes: number;
  /** May be called once. Yields at most `sizeBytes`. */
  chunks(signal: AbortSignal): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

const CHUNK_BYTES = 1 << 20;

/** Throws ATTACHMENT_NOT_AVAILABLE with a hint. The caller closes the file. */
export async function openStoredFile(file: AttachmentFile): Promise<StoredFile> {
  const info = await stat(file.root).catch((error: unknown) => {
    throw notAvailable(`The export ${file.root} no longer exists`, error);
  });
  try {
    return info.isDirectory() ? await openInFolder(file) : await openInZip(file);
  } catch (error) {
    if (error instanceof ChatError) throw error;
    throw notAvailable(`Cannot read ${file.name} in the export ${file.root}`, error);
  }
}

async function openInFolder({ root, name }: AttachmentFile): Promise<StoredFile> {
  const folder = await realpath(root);
  const path = await realpath(join(folder, name)).catch((error: unknown) => {
    throw notAvailable(`${name} is no longer in the export ${root}`, error);
  });
  if (!path.startsWith(folder + sep)) throw notAvailable(`${name} is outside of the export ${root}`);
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const { size, isRegular } = await handle.stat().then((info) => ({ size: info.size, isRegular: info.isFile() }));
  if (!isRegular) {
    await handle.close();
    throw notAvailable(`${name} is no longer a file in the export ${root}`);
  }
  return {
    sizeBytes: size,
    async *chunks(signal) {
      for (let at = 0; at < size;) {
        signal.throwIfAborted();
        const length = Math.min(CHUNK_BYTES, size - at);
        const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, at);
        if (bytesRead === 0) return;
        at += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    },
    close: () => handle.close(),
  };
}

async function openInZip({ root, name }: AttachmentFile): Promise<StoredFile> {
  const zip = await openPromise(root, { autoClose: false, lazyEntries: true });
  try {
    const entry = await findEntry(zip, name);
    if (entry === undefined) throw notAvailable(`${name} is no longer in the export ${root}`);
    return {
      sizeBytes: entry.uncompressedSize,
      async *chunks(signal) {
        const stream = await zip.openReadStreamPromise(entry);
        try {
          for await (const chunk of stream) {
            signal.throwIfAborted();
            if (Buffer.isBuffer(chunk)) yield chunk;
          }
        } catch (error) {
          if (signal.aborted) throw error;
          throw notAvailable(`${name} is damaged in the export ${root}`, error);
        }
      },
      close: async () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error;
  }
}

async function findEntry(zip: ZipFile, name: string): Promise<Entry | undefined> {
  for await (const entry of zip.eachEntry()) if (entry.fileName === name) return entry;
  return undefined;
}

function notAvailable(message: string, cause?: unknown): ChatError {
  return new ChatError(
    "ATTACHMENT_NOT_AVAILABLE",
    message,
    { hint: "Put the export back, or import it again from where it is now: `plugboard chat import PATH`" },
    cause,
  );
}
