// The process environment of a command. Commands never touch `process` themselves, so tests can run them.

import type { Readable, Writable } from "node:stream";

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly stdin: Readable & { isTTY?: boolean; setRawMode?: (raw: boolean) => unknown };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  /** SIGINT and SIGTERM. */
  onSignal(listener: () => void): void;
  /** Listens for uncaught errors; without a listener they end the process. */
  onFault(listener: (error: unknown) => void): void;
  /** Ends the process at once. */
  exit(code: number): void;
  /** Sends a message to the process that started this one in the background. */
  readonly tellParent?: ((message: unknown) => void) | undefined;
}

/** Options of every command. */
export interface GlobalOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  /** False for --no-color. */
  readonly color?: boolean;
  /** A remote hub. */
  readonly url?: string;
  readonly tokenFile?: string;
  readonly token?: string;
  /** How long the command may take, as a duration. */
  readonly timeout?: string;
  readonly verbose?: boolean;
  /** False for --no-input: never prompt. */
  readonly input?: boolean;
}
