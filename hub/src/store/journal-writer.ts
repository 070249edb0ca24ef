// Who writes a journal: a process, and which of its logs. The name says whether the writer still lives, so that somebody
// else may take in what a killed one left.

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";

const NAME = /^((?:\d+)-(?:\d+)-[0-9a-f]+)\.(\d+)\.journal(\.over)?$/;
const OVER = ".over";

export interface JournalFile {
  /** As it stands in the folder. */
  readonly file: string;
  /** The same for as long as it exists. */
  readonly name: string;
  readonly writer: string;
  /** Grows with each file of one writer. */
  readonly number: number;
  /** Its writer has closed it, though its process may live on. */
  readonly isOver: boolean;
}

/** Unique, also where a process id comes back after a restart, as it does in containers. */
export function newWriter(): string {
  return `${process.pid}-${startOf(process.pid)?.ticks ?? 0}-${randomBytes(4).toString("hex")}`;
}

export function journalName(writer: string, number: number): string {
  return `${writer}.${number}.journal`;
}

export function overName({ name }: JournalFile): string {
  return name + OVER;
}

export function parseJournalName(file: string): JournalFile | undefined {
  const match = NAME.exec(file);
  if (match?.[1] === undefined) return undefined;
  const isOver = match[3] !== undefined;
  return {
    file,
    name: isOver ? file.slice(0, -OVER.length) : file,
    writer: match[1],
    number: Number(match[2]),
    isOver,
  };
}

export function isAlive(writer: string): boolean {
  const [pid, ticks] = writer.split("-").map(Number);
  if (pid === undefined || !runs(pid)) return false;
  const started = startOf(pid);
  // Without /proc all that can be said is that a process of this number runs.
  return started === undefined || (started.ticks === ticks && !started.isZombie);
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** When it started, in ticks since the machine did. */
function startOf(pid: number): { readonly ticks: number; readonly isZombie: boolean } | undefined {
  try {
    // pid (name) state …, and the name may hold anything; the start is the 22nd field.
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return { ticks: Number(fields[19]), isZombie: fields[0] === "Z" || fields[0] === "X" };
  } catch {
    return undefined;
  }
}
