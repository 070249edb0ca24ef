// No regular expression may take long, whatever it is given: each one of the sources is checked for ambiguity, and measured
// with 64 KB of the worst that the check and the expression's own characters suggest.

import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { findRegexes, type FoundRegex } from "./support/regexes.ts";

/** The build without programs of other languages. */
const { checkSync } = createRequire(import.meta.url)("recheck/lib/browser.js") as typeof import("recheck");

const LENGTH = 64 << 10;
const LIMIT_MS = 5;
/** The least of so many runs counts: on a busy machine any one of them may be held up. */
const RUNS = 12;
/** For the check of one: most need a hundredth of it. */
const CHECK_MS = 500;
/** So many times slower than usual a machine may be, and so much longer may four times the text take. */
const BUSY = 5;
const STEEP = 8;
const REPEATS = /[*+}]/;
/** One of each class that expressions speak of. */
const CLASSES = ' \t\n"\\a0A_-./:@\u00e9\u200e';
const MAX_ATTACKS = 28;

const { literals, constructed } = findRegexes();
const all = [...literals, ...[...constructed.values()].flat()];

/** Ambiguous, and yet harmless: by name, with the reason. */
const ALLOWED: ReadonlyMap<string, string> = new Map([
  ...all
    .filter(({ name }) => name.startsWith("chat/src/redaction/codes.ts /(?<!"))
    .map(({ name }): [string, string] => [name, "linear, but 4 ms for 64 KB: too near to the limit to be measured"]),
  [
    String.raw`chat/src/files/whatsapp/header.ts /([^\d[\]:-]{0,14}?)(\] ?| - | – |: |, )/`,
    "used as a part of the header alone, which is matched at the beginning of a line",
  ],
]);

/** Files that put expressions together when they are called, and why those are harmless. */
const MADE_LATER: ReadonlyMap<string, string> = new Map([
  ["hub/src/api/rest.ts", "of our own routes: literal text, and parts that end at the next slash"],
  ["hub/src/catalog/listing.ts", "of a literal, which is checked itself"],
  ["hub/src/catalog/schema-fault.ts", "only made, to see whether it is one; never matched"],
  ["hub/src/clients/toml.ts", "a table's header at the beginning of a line: blanks, then literal text"],
  ["chat/src/redact.ts", "of the user's own config, for the user's own messages"],
]);

describe("T18 no regular expression can be made to take long", () => {
  it("finds those that the check is for", () => {
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

  it("those that are put together while a module is loaded are among them; others are on the list", () => {
    const later = [...constructed].filter(([, made]) => made.length === 0).map(([file]) => file);
    expect(later.toSorted()).toEqual([...MADE_LATER.keys()].toSorted());
  });

  it("nothing is excused that is not there any more", () => {
    const names = new Set(all.map(({ name }) => name));
    expect([...ALLOWED.keys()].filter((name) => !names.has(name))).toEqual([]);
  });
});

/** What is wrong with it, if anything. */
function verdict(regex: FoundRegex, timeoutMs = CHECK_MS): string | undefined {
  const { source, flags } = regex;
  // A check that finds nothing in this time proves nothing, and what it suggests is measured all the same.
  const checked = REPEATS.test(source) ? checkSync(source, flags, { timeout: timeoutMs, randomSeed: 1 }) : undefined;
  if (checked?.status === "vulnerable") return `ambiguous, ${checked.complexity.summary}: ${checked.attack.pattern}`;
  const slow = attacksOn(source).find(({ text }) => isSlow(new RegExp(source, flags), text));
  return slow && `slow on ${slow.name}`;
}

/** Long runs of each character that the expression names, and of those that its classes stand for, before one that fits nowhere. */
function attacksOn(source: string): { name: string; text: string }[] {
  const own = source.match(/[^\\()[\]{}|*+?^$]/gu) ?? [];
  return [...new Set([...CLASSES.split(""), ...own])].slice(0, MAX_ATTACKS).map((character) => ({
    name: `${JSON.stringify(character)} again and again, then NUL`,
    text: `${character.repeat(LENGTH / character.length)}\0`,
  }));
}

/** Beyond the limit, a busy machine is told from a bad expression by how the time grows with the text. */
function isSlow(regex: RegExp, text: string): boolean {
  const ms = leastMs(regex, text);
  if (ms <= LIMIT_MS) return false;
  return ms > BUSY * LIMIT_MS || ms > STEEP * leastMs(regex, text.slice(-text.length / 4));
}

function leastMs(regex: RegExp, text: string): number {
  let least = Infinity;
  for (let run = 0; run < RUNS && (run < 3 || least > LIMIT_MS); run++) {
    const begun = performance.now();
    // As `replaceAll` and `matchAll` do: every match. Without a repetition that would measure how strings are put together.
    if (regex.global && REPEATS.test(regex.source)) text.replace(regex, "");
    else regex.test(text);
    least = Math.min(least, performance.now() - begun);
    regex.lastIndex = 0;
  }
  return least;
}
