// No regular expression may take long for any input: each expression of the sources is checked for ambiguity, and measured with
// 64 KB of the inputs that the check and its own characters suggest.

import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { findRegexes, type FoundRegex } from "./support/regexes.ts";

/** The pure JavaScript build. */
const { checkSync } = createRequire(import.meta.url)("recheck/lib/browser.js") as typeof import("recheck");

const LENGTH = 64 << 10;
const LIMIT_MS = 5;
/** The minimum of this many runs counts, because single runs are slow on a busy machine. */
const RUNS = 12;
/** The time limit for checking one expression. Most need a hundredth of it. */
const CHECK_MS = 500;
/** How much slower than usual a machine may be, and how much longer an input of four times the length may take. */
const BUSY = 5;
const STEEP = 8;
const REPEATS = /[*+}]/;
/** One character of each class that expressions use. */
const CLASSES = ' \t\n"\\a0A_-./:@\u00e9\u200e';
const MAX_ATTACKS = 28;

const { literals, constructed } = findRegexes();
const all = [...literals, ...[...constructed.values()].flat()];

/** Ambiguous but harmless expressions, with the reason. */
const ALLOWED: ReadonlyMap<string, string> = new Map(
  all
    .filter(({ name }) => name.startsWith("chat/src/redaction/finders.ts /(?<!\\p{L})(?:codes"))
    .map(({ name }): [string, string] => [name, "linear, but 4 ms for 64 KB: too near to the limit to be measured"]),
);

/** Files that construct expressions at run time, and why these are harmless. */
const MADE_LATER: ReadonlyMap<string, string> = new Map([
  ["hub/src/api/server/rest.ts", "of our own routes: literal text, and parts that end at the next slash"],
  ["hub/src/catalog/listing.ts", "of a literal, which is checked itself"],
  ["hub/src/catalog/schema-fault.ts", "only made, to see whether it is one; never matched"],
  ["hub/src/client-configs/formats/toml.ts", "a table's header at the beginning of a line: blanks, then literal text"],
  ["chat/src/redaction/redactor.ts", "of the user's own config, for the user's own messages"],
]);

describe("T18 no regular expression takes long for any input", () => {
  it("the check detects ambiguous expressions", () => {
    expect(literals.length).toBeGreaterThan(300);
    const found = (source: string) => verdict({ name: "", source, flags: "" }, 60_000);
    expect(found("^([a-z]*):[\\t ]*([\\t -~]*)$")).toMatch(/^ambiguous/);
    expect(found("^(a|a)*$")).toMatch(/^ambiguous/);
    expect(found("^a+$")).toBeUndefined();
  });

  it("none is ambiguous, and none takes more than 5 ms for 64 KB", () => {
    const problems = all.flatMap((regex) => {
      const problem = ALLOWED.has(regex.name) ? undefined : verdict(regex);
      return problem === undefined ? [] : [`${regex.name}: ${problem}`];
    });
    expect(problems).toEqual([]);
  });

  it("expressions constructed while a module is loaded are checked; other files are listed", () => {
    const later = [...constructed].filter(([, made]) => made.length === 0).map(([file]) => file);
    expect(later.toSorted()).toEqual([...MADE_LATER.keys()].toSorted());
  });

  it("every exception still exists", () => {
    const names = new Set(all.map(({ name }) => name));
    expect([...ALLOWED.keys()].filter((name) => !names.has(name))).toEqual([]);
  });
});

/** The problem of an expression, if it has one. */
function verdict(regex: FoundRegex, timeoutMs = CHECK_MS): string | undefined {
  const { source, flags } = regex;
  // A check that times out proves nothing; the inputs are measured in any case.
  const checked = REPEATS.test(source) ? checkSync(source, flags, { timeout: timeoutMs, randomSeed: 1 }) : undefined;
  if (checked?.status === "vulnerable") return `ambiguous, ${checked.complexity.summary}: ${checked.attack.pattern}`;
  const slow = attacksOn(source).find(({ text }) => isSlow(new RegExp(source, flags), text));
  return slow && `slow on ${slow.name}`;
}

/** Long runs of each character of the expression, and of one character per class, followed by one that does not match. */
function attacksOn(source: string): { name: string; text: string }[] {
  const own = source.match(/[^\\()[\]{}|*+?^$]/gu) ?? [];
  return [...new Set([...CLASSES.split(""), ...own])].slice(0, MAX_ATTACKS).map((character) => ({
    name: `${JSON.stringify(character)} again and again, then NUL`,
    text: `${character.repeat(LENGTH / character.length)}\0`,
  }));
}

/** Above the limit, the growth of the time with the length separates a slow expression from a busy machine. */
function isSlow(regex: RegExp, text: string): boolean {
  const ms = leastMs(regex, text);
  if (ms <= LIMIT_MS) return false;
  return ms > BUSY * LIMIT_MS || ms > STEEP * leastMs(regex, text.slice(-text.length / 4));
}

function leastMs(regex: RegExp, text: string): number {
  let least = Infinity;
  for (let run = 0; run < RUNS && (run < 3 || least > LIMIT_MS); run++) {
    const begun = performance.now();
    // All matches, as for `replaceAll` and `matchAll`. Without a repetition this would only measure string concatenation.
    if (regex.global && REPEATS.test(regex.source)) text.replace(regex, "");
    else regex.test(text);
    least = Math.min(least, performance.now() - begun);
    regex.lastIndex = 0;
  }
  return least;
}
