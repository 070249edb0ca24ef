// Checks the limit of open files (`ulimit -n`). At the limit the system closes new connections silently, so the listener drops and counts
// connections while some descriptors are left.

import { closeSync, openSync, readFileSync } from "node:fs";
import { devNull } from "node:os";

/** Descriptors for the call log, the log file and server starts. */
const RESERVE = 16;

export class FileDescriptors {
  #limit = readLimit();

  /** Undefined if unknown: then connections are dropped only when no descriptor is left. */
  get limit(): number | undefined {
    return this.#limit;
  }

  /** A new descriptor has the lowest free number: one close to the limit means that few are left. */
  hasRoom(): boolean {
    try {
      const lowest = openSync(devNull, "r");
      closeSync(lowest);
      if (this.#leavesReserve(lowest)) return true;
      // The limit may have been raised (prlimit).
      this.#limit = readLimit() ?? this.#limit;
      return this.#leavesReserve(lowest);
    } catch {
      return false; // EMFILE or ENFILE
    }
  }

  #leavesReserve(lowest: number): boolean {
    return this.#limit === undefined || lowest < this.#limit - RESERVE;
  }
}

/** Only known on Linux. */
function readLimit(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
