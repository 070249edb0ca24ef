// Finds a program on the PATH.

import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";

export async function findProgram(program: string, path: string | undefined): Promise<string | undefined> {
  const candidates = /[/\\]/.test(program)
    ? [isAbsolute(program) ? program : resolve(program)]
    : (path ?? "").split(delimiter).flatMap((folder) => (folder === "" ? [] : [join(folder, program)]));
  for (const candidate of candidates) {
    const found = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return candidate;
  }
  return undefined;
}
