// Finds config files that are not valid JSON.

import { join } from "node:path";
import { GROUP_FILE, SERVER_FILE } from "../config/parse/documents.ts";
import { findSyntaxError } from "../config/parse/json.ts";
import { readTextFile } from "../config/files/text-file.ts";

export interface FilePosition {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

export async function findSyntaxErrors(config: string): Promise<FilePosition[]> {
  const found = await Promise.all(
    [SERVER_FILE, GROUP_FILE].map(async (name): Promise<FilePosition[]> => {
      const path = join(config, name);
      try {
        const error = findSyntaxError((await readTextFile(path))?.text ?? "", name);
        return error === undefined ? [] : [{ path, ...error }];
      } catch {
        return []; // unreadable files are reported elsewhere
      }
    }),
  );
  return found.flat();
}
