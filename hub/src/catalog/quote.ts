// A foreign string inside a message: escaped, so that it cannot fake a line of the log, and short.

const MAX_LENGTH = 120;

export function quote(text: string): string {
  return JSON.stringify(text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);
}
