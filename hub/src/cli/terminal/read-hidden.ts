// Reads a line from the terminal without echo.

import { Interrupted } from "../interrupted.ts";
import type { Io } from "../io.ts";

const ENTER = /[\r\n]/;
const END = "\u0004";
const INTERRUPT = "\u0003";
const BACKSPACE = new Set(["\u007f", "\b"]);
const ERASE_LINE = "\u0015";

export function readHidden({ stdin, stderr }: Pick<Io, "stdin" | "stderr">, question: string): Promise<string> {
  // Turn off echo before the question is printed: input may already be typed.
  stdin.setRawMode?.(true);
  stdin.resume();
  stderr.write(question);
  return new Promise((resolve, reject) => {
    let value = "";
    const end = (how: () => void) => {
      stdin.off("data", onData).off("end", onEnd);
      stdin.setRawMode?.(false);
      stdin.pause();
      stderr.write("\n");
      how();
    };
    const onEnd = () => end(() => resolve(value));
    const onData = (chunk: Buffer | string) => {
      for (const key of chunk.toString()) {
        if (key === INTERRUPT) return end(() => reject(new Interrupted({ stderr })));
        if (ENTER.test(key) || key === END) return onEnd();
        if (BACKSPACE.has(key)) value = Array.from(value).slice(0, -1).join("");
        else if (key === ERASE_LINE) value = "";
        else value += key;
      }
    };
    stdin.on("data", onData).on("end", onEnd);
  });
}
