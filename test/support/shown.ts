// Compares the output of a command with a document. Times, durations, process ids and column widths may differ; "…" stands for
// any text, on its own line for any lines; JSON may be formatted differently.

const VARIES: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>"],
  [/\b\d\d:\d\d:\d\d\b/g, "<time>"],
  [/\b\d+(?:\.\d+)?(?:ms|s|m|h)\b/g, "<duration>"],
  [/\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b/g, "<day>"],
  [/\bpid \d+/g, "pid <n>"],
  [/[ \t]+/g, " "],
];

/** Throws, with both texts, if they differ. */
export function requireShown(actual: string, shown: string): void {
  if (isJson(actual) && isJson(shown)) {
    if (sameJson(JSON.parse(actual), JSON.parse(shown))) return;
  } else if (toPattern(shown).test(steady(actual))) {
    return;
  }
  throw new Error(`It printed:\n${actual}\nbut the document shows:\n${shown}`);
}

function steady(text: string): string {
  return VARIES.reduce((each, [pattern, name]) => each.replaceAll(pattern, name), text.trim());
}

function toPattern(shown: string): RegExp {
  const lines = steady(shown)
    .split("\n")
    .map((line) => (line.trim() === "…" ? "(?:[^\\n]*\\n)*?" : `${toText(line)}\\n`));
  return new RegExp(`^${lines.join("").replace(/\\n$/, "")}$`);
}

function toText(line: string): string {
  return line.split("…").map(escaped).join("[^\\n]*");
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function sameJson(actual: unknown, shown: unknown, key = ""): boolean {
  if (typeof shown === "string") {
    return typeof actual === "string" && new RegExp(`^${toText(steady(shown))}$`, "s").test(steady(actual));
  }
  if (typeof shown === "number") return typeof actual === "number" && (key.endsWith("_ms") || actual === shown);
  if (typeof shown !== "object" || shown === null) return actual === shown;
  if (typeof actual !== "object" || actual === null || Array.isArray(actual) !== Array.isArray(shown)) return false;
  const theirs = Object.entries(actual);
  const ours = new Map(Object.entries(shown));
  return (
    theirs.length === ours.size &&
    theirs.every(([name, value]) => ours.has(name) && sameJson(value, ours.get(name), name))
  );
}
