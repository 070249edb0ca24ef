// A line on stdout, for programs that are killed: not through a stream, since what was said must be out before the next thing
// happens. A reader that is late leaves no room; then it is tried again.

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
