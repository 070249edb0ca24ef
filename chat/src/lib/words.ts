// Numbers and counted nouns, formatted for people.

/** @example inDigits(1234) // "1,234" */
export function inDigits(value: number): string {
  return value.toLocaleString("en-US");
}

/** @example count(1, "chat") // "1 chat" */
export function count(value: number, noun: string): string {
  return `${inDigits(value)} ${noun}${value === 1 ? "" : "s"}`;
}
