// Progress bar of an import on stderr; terminals only.

import { basename } from "node:path";
import type { Io } from "./io.ts";

interface Progress {
  readonly bytes: number;
  readonly totalBytes: number;
  readonly messages: number;
}

const REDRAW_MS = 100;
const WIDTH = 24;

export class ImportProgress {
  readonly #io: Io;
  readonly #name: string;
  #drawnAt = -Infinity;

  constructor(io: Io, path: string) {
    this.#io = io;
    this.#name = basename(path);
  }

  update({ bytes, totalBytes, messages }: Progress): void {
    if (this.#io.stderr.isTTY !== true || performance.now() - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = performance.now();
    const part = totalBytes === 0 ? 1 : Math.min(1, bytes / totalBytes);
    const full = Math.round(part * WIDTH);
    const bar = "█".repeat(full) + "░".repeat(WIDTH - full);
    const line = `${this.#name}  ${bar} ${String(Math.floor(part * 100)).padStart(3)} %  ${messages.toLocaleString("en-US")} messages`;
    this.#io.stderr.write(`\r\u001b[2K${line.slice(0, (this.#io.stderr.columns || 80) - 1)}`);
  }

  end(): void {
    if (this.#drawnAt > -Infinity) this.#io.stderr.write("\r\u001b[2K");
  }
}
