// Writes a line to stdout synchronously, for programs that are killed: the line must be written before the next action. Retries
// while the pipe is full.

import { writeSync } from "node:fs";

export function say(line) {
  for (;;) {
    try {
      writeSync(1, `${line}\n`);
      return;
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}
