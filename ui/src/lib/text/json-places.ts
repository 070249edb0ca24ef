// Where members are in a JSON text, for marks of errors that name a field.

/**
 * The line, from 1, of the member with this path, or of the nearest one around it that exists. The text must be JSON.
 *
 * @example lineOfField('{\n  "env": {\n    "A": 5\n  }\n}', "env.A") === 3
 */
export function lineOfField(text: string, field: string): number {
  const wanted = field === "" ? [] : field.split(".");
  let at = 0;
  let found = { depth: 0, at: 0 };

  const skipSpace = () => {
    while (/\s/.test(text[at] ?? "")) at += 1;
  };

  const readString = (): string => {
    const start = at;
    for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === "\\") at += 1;
    at += 1;
    return JSON.parse(text.slice(start, at)) as string;
  };

  /** `depth`: how many members of the path lead here; undefined: it is beside the path. */
  const readValue = (depth: number | undefined): void => {
    skipSpace();
    if (text[at] === "{") readMembers(depth, "}");
    else if (text[at] === "[") readMembers(depth, "]");
    else if (text[at] === '"') readString();
    else while (at < text.length && !/[\s,\]}]/.test(text[at] ?? "")) at += 1;
  };

  const readMembers = (depth: number | undefined, end: "}" | "]"): void => {
    at += 1;
    for (let index = 0; at < text.length; index += 1) {
      skipSpace();
      if (text[at] === end) break;
      const start = at;
      let name = String(index);
      if (end === "}") {
        name = readString();
        skipSpace();
        at += 1; // the colon
      }
      const isOnPath = depth !== undefined && wanted[depth] === name;
      if (isOnPath && depth + 1 > found.depth) found = { depth: depth + 1, at: start };
      readValue(isOnPath ? depth + 1 : undefined);
      skipSpace();
      if (text[at] === ",") at += 1;
    }
    at += 1;
  };

  readValue(0);
  return lineAt(text, found.at);
}

/** The line, from 1, of the character at an index. */
export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}
