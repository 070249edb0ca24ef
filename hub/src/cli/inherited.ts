// Closes files and sockets that the parent process left open in this one. Every server that the hub starts would inherit them:
// Node closes only the lowest ones for its children.

import { closeSync, readdirSync, readFileSync } from "node:fs";

/** FD_CLOEXEC: closed automatically in a child. Node sets it on everything that it opens. */
const CLOSE_ON_EXEC = 0o2000000;
const STDERR = 2;

/**
 * Closes inherited descriptors and returns their numbers. Must run before anything is opened by other means than Node's own.
 * Linux only: elsewhere the open descriptors are not listed, and Node keeps them from children by itself.
 */
export function closeInherited(): number[] {
  if (process.platform !== "linux") return [];
  // The IPC channel of a parent that is a Node process too.
  const channel: unknown = process.channel !== undefined && "fd" in process.channel ? process.channel.fd : undefined;
  return numbers()
    .filter((fd) => fd > STDERR && fd !== channel && isInherited(fd))
    .filter((fd) => isClosed(fd));
}

function numbers(): number[] {
  try {
    return readdirSync("/proc/self/fdinfo").map(Number);
  } catch {
    return []; // no /proc, as on other systems
  }
}

function isInherited(fd: number): boolean {
  try {
    const [, flags = ""] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1")) ?? [];
    return flags !== "" && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false; // closed in the meantime, such as the one of the folder itself
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
