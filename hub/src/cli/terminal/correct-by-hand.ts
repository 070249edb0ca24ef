// Opens config files that are not valid JSON in the user's editor, at the first error.

import { findSyntaxErrors } from "../../doctor/syntax-errors.ts";
import { hubFoldersOf } from "../hub-access/run-file.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { edit, findEditor } from "./editor.ts";

/** Opens each in the user's editor and returns the files that are valid afterwards. Does nothing without a terminal. */
export async function correctByHand(io: Io, options: GlobalOptions): Promise<string[]> {
  const { config } = hubFoldersOf(io, options);
  const editor = findEditor(io, options);
  const broken = await findSyntaxErrors(config);
  if (editor === undefined || broken.length === 0) return [];
  for (const position of broken) await edit(io, editor, position);
  const left = await findSyntaxErrors(config);
  return broken.map(({ path }) => path).filter((path) => left.every((position) => position.path !== path));
}
