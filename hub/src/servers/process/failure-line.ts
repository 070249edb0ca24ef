// Finds the line of a server's stderr that explains its failure: often neither the first nor the last, but above a stack trace or
// a usage text. A heuristic for users; no decision depends on it.

/** Words that most programs use in error messages. */
const COMPLAINT =
  /\b(?:required|requires|missing|must|cannot|can't|could not|couldn't|unable|invalid|denied|refused|unauthorized|failed|failure|fatal|error|unrecognized|unknown|undefined|not set|not found|not provided|not defined|not configured|not installed|was provided|were provided|please (?:set|provide))\b/i;
/** `Error: …`, `ValueError: …`, `panic: …`, `Error [ERR_X]: …` at the beginning of a line. */
const EXCEPTION =
  /^(?:[\w.]{0,60}(?:Error|Exception|Exit)|panic|fatal|FATAL|ERROR|error|Fatal error)(?: \[\w{1,60}\])?: \S/;
const TRACEBACK = /^Traceback \(most recent call last\)/m;
/** Lines about the location and not the error: stack frames, carets, source lines, the signature of the runtime. */
const NOISE =
  /^(?:\s*at |\s+\^|\s*\^+$|\s*File "|\s*Node\.js v|\s*[}\]]|\s*\{\s*$|\s*node:|\s*throw |npm (?:warn|notice|WARN)|npm (?:error|ERR!) (?:A complete log|Log files)|\s*$)/;
const LEVEL = /^(?:\[[^\]]{1,40}\]\s*|\d{4}-\d\d-\d\dT?[\d:.,Z+ -]{0,20}\s*)/;
const VARIABLE = /\b[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40})+\b/g;
/** Codes and settings that look like a variable of the server. */
const NO_VARIABLE = /^(?:ERR|NODE|MODULE|UV|NPM|EXIT|HTTP)_/;
const ADVICE = /\b(?:pass|set|provide|export|use|supply)\b/i;
const USAGE = /^[ \t]{0,8}usage\b/im;
const MAX_CHARS = 500;

/** @example findFailureLine("GET /x\nError: No access token was provided\n    at main") // "Error: No access token was provided" */
export function findFailureLine(text: string): string | undefined {
  return bestOf(withoutUsage(text), { orLast: true });
}

/** A usage text follows the error; it is kept if there is nothing else. */
function withoutUsage(text: string): string {
  const usage = text.search(USAGE);
  const before = usage < 0 ? text : text.slice(0, usage).trimEnd();
  return bestOf(before, { orLast: false }) === undefined ? text : before;
}

function bestOf(text: string, { orLast }: { orLast: boolean }): string | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const candidates = lines.filter((line) => !NOISE.test(line)).map((line) => plain(line));
  const scores = candidates.map(score);
  const best = Math.max(...scores, 0);
  if (best === 0) return orLast ? (candidates.at(-1) ?? lines.at(-1)?.trim()) : undefined;
  // Python puts the reason last, behind the trace and behind what it was caused by.
  const index = TRACEBACK.test(text) ? scores.lastIndexOf(best) : scores.indexOf(best);
  return candidates[index];
}

/** The environment variable that a server misses, by its failure line or the advice after it. */
export function missingVariable(text: string, failureLine: string): string | undefined {
  const lines = text.split("\n").map((line) => plain(line));
  const advice = lines[lines.indexOf(failureLine) + 1] ?? "";
  return variableIn(failureLine) ?? (ADVICE.test(advice) ? nameIn(advice) : undefined);
}

function variableIn(line: string): string | undefined {
  return COMPLAINT.test(line) ? nameIn(line) : undefined;
}

function nameIn(line: string): string | undefined {
  return line.match(VARIABLE)?.find((name) => !NO_VARIABLE.test(name));
}

/** The failure line first, then the last lines without it. */
export function explain(stderr: string, lines: number, failureLine = findFailureLine(stderr)): string {
  const tail = withoutUsage(stderr).split("\n").slice(-lines);
  if (failureLine === undefined) return tail.join("\n");
  const others = tail.filter((line) => plain(line) !== failureLine);
  return [failureLine, ...others].join("\n");
}

function score(line: string): number {
  if (variableIn(line) !== undefined) return 3;
  if (EXCEPTION.test(line)) return 2;
  return COMPLAINT.test(line) ? 1 : 0;
}

/** Without a leading time or level. For a JSON log line: its message. */
function plain(line: string): string {
  const text = line.slice(0, MAX_CHARS).trim();
  if (text.startsWith("{")) return messageIn(text) ?? text;
  return text.replace(LEVEL, "") || text;
}

function messageIn(text: string): string | undefined {
  try {
    const { message, msg, error }: Record<string, unknown> = JSON.parse(text);
    return [message, msg, error].find((each) => typeof each === "string");
  } catch {
    return undefined;
  }
}
