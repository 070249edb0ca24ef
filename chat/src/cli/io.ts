// The process as commands see it. Commands never use `process` directly.

import type { Readable, Writable } from "node:stream";
import type { HostEnvironment } from "../config/home.ts";

export interface Io extends HostEnvironment {
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
  /** Sets the exit code. */
  readonly done: (exitCode: number) => void;
  /** Whether no command is given. */
  readonly isServing: boolean;
}
