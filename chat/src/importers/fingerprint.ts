// Fingerprint of a file or folder from its metadata (path, size, mtime, inode), without reading the content.

import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** `readAs` adds the settings that change the result of an import. */
export async function fingerprint(path: string, readAs: string): Promise<string> {
  const hash = createHash("sha256").update(readAs);
  for (const file of await filesAt(path)) {
    const { size, mtimeNs, ino } = await stat(file, { bigint: true });
    hash.update(`\n${file}\0${size} ${mtimeNs} ${ino}`);
  }
  return hash.digest("base64url");
}

async function filesAt(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const found = await readdir(path, { recursive: true, withFileTypes: true });
  return found.flatMap((item) => (item.isFile() ? [join(item.parentPath, item.name)] : [])).toSorted();
}
