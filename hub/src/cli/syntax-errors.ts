// Config files that are not JSON: where the first mistake is, and the editor opened there. Correcting it is left to people.

import { join } from "node:path";
import { GROUP_FILE, SERVER_FILE } from "../config/documents.ts";
import { findSyntaxError } from "../config/json.ts";
import { readTextFile } from "../config/text-file.ts";
import { edit, findEditor, type Place } from "./editor.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { placesOf } from "./record.ts";

export async function findSyntaxErrors(config: string): Promise<Place[]> {
  const found = await Promise.all(
    [SERVER_FILE, GROUP_FILE].map(async (name): Promise<Place[]> => {
      const path = join(config, name);
      try {
        const error = findSyntaxError((await readTextFile(path))?.text ?? "", name);
        return error === undefined ? [] : [{ path, ...error }];
      } catch {
        return []; // cannot be read at all, which is told elsewhere
      }
    }),
  );
  return found.flat();
}

/** Opens each in the user's editor, and says which are right afterwards. Without a terminal it does nothing. */
export async function correctByHand(io: Io, options: GlobalOptions): Promise<string[]> {
  const { config } = placesOf(io, options);
  const editor = findEditor(io, options);
  const broken = await findSyntaxErrors(config);
  if (editor === undefined || broken.length === 0) return [];
  for (const place of broken) await edit(io, editor, place);
  const left = await findSyntaxErrors(config);
  return broken.map(({ path }) => path).filter((path) => left.every((place) => place.path !== path));
}
