// Files and sockets that whoever started this process left open in it: they are none of the hub's, and would be open in every
// server that it starts. Node closes only the lowest of them for its children.

import { closeSync, readdirSync, readFileSync } from "node:fs";

/** Closed by themselves in a child: all that Node opens. */
const CLOSE_ON_EXEC = 0o2000000;
const STDERR = 2;

/**
 * Closes them, and gives their numbers. To be called before anything is opened by other means than Node's own. Only Linux
 * says which they are; elsewhere Node keeps them from children by itself.
 */
export function closeInherited(): number[] {
  if (process.platform !== "linux") return [];
  // Of a parent that is a Node too.
  const channel: unknown = process.channel !== undefined && "fd" in process.channel ? process.channel.fd : undefined;
  return numbers()
    .filter((fd) => fd > STDERR && fd !== channel && isInherited(fd))
    .filter((fd) => isClosed(fd));
}

function numbers(): number[] {
  try {
    return readdirSync("/proc/self/fdinfo").map(Number);
  } catch {
    return []; // no /proc: nothing is known, as elsewhere
  }
}

function isInherited(fd: number): boolean {
  try {
    const [, flags = ""] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1")) ?? [];
    return flags !== "" && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false; // closed meanwhile, as that of the folder itself
  }
}

function isClosed(fd: number): boolean {
  try {
    closeSync(fd);
    return true;
  } catch {
    return false;
  }
}
