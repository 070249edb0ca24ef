// What a command gets from the process it runs in. Commands never touch `process` themselves.

import type { Readable, Writable } from "node:stream";
import type { Surroundings } from "../config/home.ts";

export interface Io extends Surroundings {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number };
  /** SIGINT and SIGTERM. */
  onSignal(listener: () => void): void;
  /** Ends the process at once. */
  exit(code: number): void;
}

export interface Context {
  readonly io: Io;
  /** The exit code. */
  readonly done: (exitCode: number) => void;
  /** No command is named. */
  readonly isServing: boolean;
}
