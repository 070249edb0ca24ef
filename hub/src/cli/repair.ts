// Something that is wrong, with the one thing that puts it right. Nothing is done by finding it.

import type { CheckResult } from "./checks.ts";

export interface Repair extends CheckResult {
  /** Puts it right, and says what was done. */
  readonly run: () => Promise<string>;
}
