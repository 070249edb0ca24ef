// A problem together with its repair. Finding it changes nothing.

import type { CheckResult } from "./checks.ts";

export interface Repair extends CheckResult {
  /** Repairs it and returns a description of what was done. */
  readonly run: () => Promise<string>;
}
