// What a command gets from the process it runs in. Commands never touch `process` themselves, so tests can run them.

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
  /** An error that nobody caught; without a listener it ends the process. */
  onFault(listener: (error: unknown) => void): void;
  /** Ends the process at once, whatever is still running in it. */
  exit(code: number): void;
  /** To the process that started this one in the background and waits for it. */
  readonly tellParent?: ((message: unknown) => void) | undefined;
}

/** Options that every command has. */
export interface GlobalOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  /** False for --no-color. */
  readonly color?: boolean;
  /** A hub elsewhere. */
  readonly url?: string;
  readonly tokenFile?: string;
  readonly token?: string;
  /** How long the command may take, as a duration. */
  readonly timeout?: string;
  readonly verbose?: boolean;
  /** False for --no-input: nobody is asked anything. */
  readonly input?: boolean;
}
