// Splits the chunks of a pipe into lines, and combines answers into few writes.

const NEWLINE = 0x0a;

/** Returns a function for the chunks. The bytes of a line are valid until the callback returns. */
export function splitLines(onLine: (line: Buffer) => void): (piece: Buffer) => void {
  let rest: Buffer[] = [];
  return (piece) => {
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, from)) {
      const last = piece.subarray(from, end);
      const line = rest.length === 0 ? last : Buffer.concat([...rest, last]);
      rest = [];
      from = end + 1;
      if (line.length > 0) onLine(line);
    }
    if (from < piece.length) rest.push(piece.subarray(from));
  };
}

/** Returns a function that collects texts: all of one event loop turn are one write. */
export function gatherWrites(write: (text: string) => void): (text: string) => void {
  let waiting: string[] = [];
  const flush = () => {
    const texts = waiting;
    waiting = [];
    write(texts.join(""));
  };
  return (text) => {
    if (waiting.push(text) === 1) setImmediate(flush);
  };
}
