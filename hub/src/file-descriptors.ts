// How near the hub is to its limit of open files (`ulimit -n`). Beyond it the system accepts a connection and closes it at
// once, and nobody is told: so connections are turned away, and counted, while there is still some room.

import { closeSync, openSync, readFileSync } from "node:fs";
import { devNull } from "node:os";

/** For what must go on meanwhile: the call log, the log file, the start of a server. */
const RESERVE = 16;

export class FileDescriptors {
  #limit = readLimit();

  /** Undefined where it is not known: then only the last descriptor is kept free. */
  get limit(): number | undefined {
    return this.#limit;
  }

  /** A file that is opened gets the lowest free number: one close to the limit means that few are left. */
  hasRoom(): boolean {
    try {
      const lowest = openSync(devNull, "r");
      closeSync(lowest);
      if (this.#leavesReserve(lowest)) return true;
      // It may have been raised meanwhile (prlimit).
      this.#limit = readLimit() ?? this.#limit;
      return this.#leavesReserve(lowest);
    } catch {
      return false; // EMFILE, or ENFILE: none is left
    }
  }

  #leavesReserve(lowest: number): boolean {
    return this.#limit === undefined || lowest < this.#limit - RESERVE;
  }
}

/** Linux tells it; elsewhere it is not known. */
function readLimit(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
