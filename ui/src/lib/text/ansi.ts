// Terminal output as styled parts: colours become tokens of the design, all other escape sequences are dropped.

export interface AnsiPart {
  readonly text: string;
  readonly colour: "err" | "ok" | "warn" | "info" | "faint" | undefined;
  readonly bold: boolean;
}

// eslint-disable-next-line no-control-regex -- these are the controls that are looked for
const SEQUENCE = /\u001B(?:\[([0-9;:]*)([@-~])|\][^\u0007\u001B]*(?:\u0007|\u001B\\)|[@-Z\\^_])/g;

const COLOURS: Readonly<Record<number, AnsiPart["colour"]>> = {
  31: "err",
  32: "ok",
  33: "warn",
  34: "info",
  35: "info",
  36: "info",
  90: "faint",
  91: "err",
  92: "ok",
  93: "warn",
  94: "info",
  95: "info",
  96: "info",
};

export function ansiParts(line: string): readonly AnsiPart[] {
  if (!line.includes("\u001B")) return [{ text: line, colour: undefined, bold: false }];
  const parts: AnsiPart[] = [];
  let style: Omit<AnsiPart, "text"> = { colour: undefined, bold: false };
  let from = 0;
  for (const match of line.matchAll(SEQUENCE)) {
    if (match.index > from) parts.push({ text: line.slice(from, match.index), ...style });
    from = match.index + match[0].length;
    if (match[2] === "m") style = styled(style, match[1] ?? "");
  }
  if (from < line.length) parts.push({ text: line.slice(from), ...style });
  return parts;
}

/** Without escape sequences, for searching and copying. */
export const plain = (line: string): string => (line.includes("\u001B") ? line.replace(SEQUENCE, "") : line);

function styled(style: Omit<AnsiPart, "text">, codes: string): Omit<AnsiPart, "text"> {
  return codes.split(";").reduce((current, text) => {
    const code = Number(text);
    if (code === 0) return { colour: undefined, bold: false };
    if (code === 1) return { ...current, bold: true };
    if (code === 2) return { ...current, colour: "faint" };
    if (code === 22) return { ...current, bold: false };
    if (code === 39) return { ...current, colour: undefined };
    return code in COLOURS ? { ...current, colour: COLOURS[code] } : current;
  }, style);
}
