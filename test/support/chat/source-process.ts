// Runs a source from its chat.json entry in a separate process, writing into a store.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Entry {
  readonly kind: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export class SourceProcess {
  /** Exit code or signal. */
  readonly exited: Promise<unknown>;
  readonly #child: ReturnType<typeof spawn>;
  readonly #lines: string[] = [];
  readonly #waiting = new Set<() => void>();

  /** The process kills itself before or after committing the first batch with a message. */
  constructor(entry: Entry, path: string, moment: "before" | "after" | "never") {
    const script = fileURLToPath(new URL("./run-source.mjs", import.meta.url));
    const dist = fileURLToPath(new URL("../../../chat/dist", import.meta.url));
    const args = [script, dist, path, JSON.stringify(entry), moment];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.#child = child;
    this.exited = once(child, "exit").then(([code, signal]: unknown[]) => signal ?? code);
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.#lines.push(line);
      for (const look of this.#waiting) look();
    });
  }

  line(wanted: string): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!this.#lines.includes(wanted)) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  stop(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}
