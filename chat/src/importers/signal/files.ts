// Media of Signal's export, under `files/`. As in backups, a file name is derived from the content hash and the key; messages
// do not contain it.

import { createHash } from "node:crypto";
import { basename, extname } from "node:path";
import type { AttachmentFile } from "../../model/source.ts";
import type { Archive } from "../archive.ts";
import { type Fields, numberOf, textOf } from "../fields.ts";

export class SignalFiles {
  readonly #root: string;
  /** By base name without extension. */
  readonly #files: ReadonlyMap<string, { readonly name: string; readonly sizeBytes: number }>;

  constructor({ root, members }: Archive) {
    this.#root = root;
    const media = members.filter(({ name }) => /(?:^|\/)files\//.test(name));
    this.#files = new Map(media.map((member) => [basename(member.name, extname(member.name)).toLowerCase(), member]));
  }

  /** Finds the file of an attachment by its `locatorInfo`. */
  of(locator: Fields): AttachmentFile | undefined {
    if (this.#files.size === 0) return undefined;
    const size = numberOf(locator["size"]);
    for (const mediaName of mediaNames(locator)) {
      const found = this.#files.get(mediaName);
      // A file of another size is padded or encrypted.
      if (found !== undefined && (size === undefined || size === found.sizeBytes)) {
        return { root: this.#root, name: found.name };
      }
    }
    return undefined;
  }
}

function mediaNames(locator: Fields): readonly string[] {
  const hash = bytesOf(locator["plaintextHash"]);
  const key = bytesOf(locator["key"]);
  const localKey = bytesOf(locator["localKey"]);
  return [
    textOf(locator["mediaName"])?.toLowerCase(),
    hash === undefined || localKey === undefined
      ? undefined
      : createHash("sha256")
          .update(Buffer.concat([hash, localKey]))
          .digest("hex"),
    hash === undefined || key === undefined ? undefined : Buffer.concat([hash, key]).toString("hex"),
    hash?.toString("hex"),
  ].flatMap((name) => name ?? []);
}

function bytesOf(value: unknown): Buffer | undefined {
  const text = textOf(value);
  return text === undefined ? undefined : Buffer.from(text, "base64");
}
