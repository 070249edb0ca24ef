// The files of a folder, also while a running hub writes to it.

import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";

/**
 * Every file below a folder with its content, by its path in the folder. A running hub replaces its files: one that is gone before
 * it is read is left out, since its successor has another name.
 */
async function filesBelow(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await orGone(readdir(folder, { withFileTypes: true }), [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      for (const [name, text] of await filesBelow(path)) found.set(join(entry.name, name), text);
    } else if (entry.isFile()) {
      const text = await orGone(readFile(path, "latin1"), undefined);
      if (text !== undefined) found.set(relative(folder, path), text);
    }
  }
  return found;
}

/** The paths of the files below a folder that have one of these texts. */
export async function filesWith(folder: string, ...texts: readonly string[]): Promise<string[]> {
  const found = [...(await filesBelow(folder))].filter(([, content]) => texts.some((text) => content.includes(text)));
  return found.map(([path]) => path);
}

async function orGone<T>(reading: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return otherwise;
    throw error;
  }
}
