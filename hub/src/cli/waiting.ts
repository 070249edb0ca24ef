// One line on a terminal while something takes longer than a moment: what it is, and for how long already.

import type { Io } from "./io.ts";
import type { Output } from "./output.ts";
import { cut } from "./text.ts";
import { seconds } from "./times.ts";

const REDRAW_MS = 100;
/** What is over before this needs no line. */
const MOMENT_MS = 300;

export async function waiting<T>(io: Io, out: Output, label: string | (() => string), work: Promise<T>): Promise<T> {
  if (!out.live) return work;
  const startedAt = performance.now();
  let drawn = false;
  const timer = setInterval(() => {
    const elapsed = performance.now() - startedAt;
    if (elapsed < MOMENT_MS) return;
    drawn = true;
    const text = `  … ${typeof label === "string" ? label : label()}  ${seconds(elapsed)}`;
    io.stderr.write(`\r\u001b[2K${cut(text, (io.stderr.columns || 80) - 1)}`);
  }, REDRAW_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (drawn) io.stderr.write("\r\u001b[2K");
  }
}
