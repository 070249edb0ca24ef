// Small texts.

export function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

/** @example count(1, "tool") // "1 tool" */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
