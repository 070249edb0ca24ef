// Splits a command line into words, as a POSIX shell does without expanding anything.

import { HubError } from "../errors.ts";

/** @example splitWords(`npx -y x "a b" \\\n  --flag`) // ["npx", "-y", "x", "a b", "--flag"] */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    const next = text.charAt(at + 1);
    if (quote === "'" || (quote === '"' && char !== "\\")) {
      if (char === quote) quote = "";
      else word = (word ?? "") + char;
    } else if (char === "\\" && next !== "" && (quote === "" ? isEscaped(text, at) : /["\\$`\n]/.test(next))) {
      if (next !== "\n") word = (word ?? "") + next;
      at++;
    } else if (quote === "" && (char === '"' || char === "'")) {
      quote = char;
      word ??= "";
    } else if (quote === "" && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + char;
  }
  if (quote !== "") throw new HubError("InvalidArgument", `The quote ${quote} is not closed`, { field: "text" });
  return word === undefined ? words : [...words, word];
}

/** A backslash in a path of Windows is no escape. */
function isEscaped(text: string, at: number): boolean {
  return !/[A-Za-z0-9.]/.test(text.charAt(at + 1)) || /\s|^$/.test(text.charAt(at - 1));
}
