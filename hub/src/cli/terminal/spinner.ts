// A progress line on stderr for work that takes longer than a moment: what it is, and for how long.

import type { Io } from "../io.ts";
import type { Output } from "./output.ts";
import { truncate } from "@plugboard/shared/text-width";
import { oneLine } from "./text.ts";
import { seconds } from "./times.ts";

const REDRAW_MS = 100;
/** Shorter work gets no line. */
const MOMENT_MS = 300;
export const ERASE_LINE = "\r\u001b[2K";

/** An undefined label hides the line, for example during a question. */
export async function waiting<T>(
  io: Io,
  out: Output,
  label: string | (() => string | undefined),
  work: Promise<T>,
): Promise<T> {
  if (!out.live) return work;
  const startedAt = performance.now();
  let drawn = false;
  const timer = setInterval(() => {
    const elapsed = performance.now() - startedAt;
    const what = typeof label === "string" ? label : label();
    if (what === undefined) drawn = false;
    if (elapsed < MOMENT_MS || what === undefined) return;
    drawn = true;
    const time = `  ${seconds(elapsed)}`;
    const room = (io.stderr.columns || 80) - 1 - time.length;
    io.stderr.write(`${ERASE_LINE}${truncate(`  … ${oneLine(what)}`, room)}${time}`);
  }, REDRAW_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (drawn) io.stderr.write(ERASE_LINE);
  }
}
