// Whether there is something at a path. By the time that anybody acts on it, it may be gone.

import { access } from "node:fs/promises";

export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
