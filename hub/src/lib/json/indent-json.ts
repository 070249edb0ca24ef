// Indents JSON without parsing its values: numbers keep their digits, strings their escapes.

const STRING = /"(?:[^"\\]|\\.)*"/y;
const SCALAR = /[^\s",:[\]{}]+/y;
const BLANK = /\s*/y;

/** Like `JSON.stringify(value, null, 2)`, for text that is valid JSON. */
export function indentJson(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  const newLine = () => parts.push(`\n${"  ".repeat(depth)}`);
  for (let at = end(BLANK, text, 0); at < text.length; at = end(BLANK, text, at)) {
    const character = text[at] ?? "";
    const next = end(character === '"' ? STRING : SCALAR, text, at);
    if (next > at) {
      parts.push(text.slice(at, next));
      at = next;
      continue;
    }
    at++;
    if (character === "{" || character === "[") {
      const close = end(BLANK, text, at);
      const isEmpty = text[close] === "}" || text[close] === "]";
      parts.push(isEmpty ? character + text[close] : character);
      if (isEmpty) at = close + 1;
      else {
        depth++;
        newLine();
      }
    } else if (character === "}" || character === "]") {
      depth = Math.max(0, depth - 1);
      newLine();
      parts.push(character);
    } else {
      parts.push(character === ":" ? ": " : character);
      if (character === ",") newLine();
    }
  }
  return parts.join("");
}

/** The end of the match at `at`; `at` itself if there is none. */
function end(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : at;
}
