// Paths of files in the installed package. The bundle, the compiled modules and the sources all keep this code two folders below
// the package, so one relative path holds for each of them; a file in a deeper folder must not compute its own path.

import { fileURLToPath } from "node:url";

export function packagePath(relative: string): string {
  return fileURLToPath(new URL(`../../${relative}`, import.meta.url));
}
