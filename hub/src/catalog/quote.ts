// Quotes untrusted text in messages: escaped, so that it cannot forge log lines, and cut.

const MAX_LENGTH = 120;

export function quote(text: string): string {
  return JSON.stringify(text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);
}
