// Advice of the hub is a command to type, or a sentence.

export function isCommand(advice: string): boolean {
  return /^(?:plugboard|npm|npx|chmod|chown|kill|rm|docker|printf) /.test(advice);
}
