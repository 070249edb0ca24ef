// The lines of a text file of any size, in groups as they come. A line that is too long is cut, and says so.

import { isUtf8 } from "node:buffer";

export interface Line {
  readonly text: string;
  /** From 1 on. */
  readonly number: number;
  readonly trouble?: "no UTF-8" | "too long";
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

export async function* lineGroups(
  chunks: AsyncIterable<Buffer>,
  { maxBytes }: { readonly maxBytes: number },
): AsyncGenerator<readonly Line[]> {
  let number = 0;
  let open: Buffer = Buffer.alloc(0);
  let isCut = false;
  const finish = (bytes: Buffer): Line => {
    const line = toLine(bytes, ++number, isCut || bytes.length > maxBytes ? maxBytes : undefined);
    isCut = false;
    return line;
  };
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, end);
      lines.push(finish(open.length === 0 ? piece : Buffer.concat([open, piece])));
      open = Buffer.alloc(0);
      from = end + 1;
    }
    if (open.length <= maxBytes) open = Buffer.concat([open, chunk.subarray(from)]);
    else isCut = true;
    if (lines.length > 0) yield lines;
  }
  if (open.length > 0) yield [finish(open)];
}

function toLine(bytes: Buffer, number: number, cutAt: number | undefined): Line {
  const whole = bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes;
  if (cutAt !== undefined) return { text: whole.toString("utf8", 0, cutAt), number, trouble: "too long" };
  const text = whole.toString("utf8");
  return text.includes("\ufffd") && !isUtf8(whole) ? { text, number, trouble: "no UTF-8" } : { text, number };
}
