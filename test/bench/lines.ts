// Lines out of the pieces that a pipe brings, and answers into as few writes as possible.

const NEWLINE = 0x0a;

/** Gives what to feed the pieces to. A line's bytes are valid until the call returns. */
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

/** Gives what to hand texts to: all of one turn of the event loop go in one write. */
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
