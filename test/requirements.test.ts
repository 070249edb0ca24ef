// No proof vanishes unseen: each requirement that holds now has a test that carries its ID in its name. Whether the test
// proves it is for its readers.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const range = (prefix: string, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => `${prefix}${from + n}`);

const PROVEN = [
  ...range("CF-", 1, 11),
  ...range("LC-", 1, 10),
  ...range("CL-", 1, 6),
  ...range("CL-", 8, 9),
  ...range("GR-", 1, 8),
  ...range("RS-", 1, 7),
  ...range("MC-T", 1, 9),
  ...range("MC-NT", 1, 4),
  ...range("MG-", 1, 3),
  ...range("SE-", 1, 2),
  ...range("SE-", 4, 5),
  ...range("CH-", 1, 12),
];

/** The first text of a call of it or describe, which may follow a table. What is skipped for good is no proof. */
const TITLE =
  /\b(?:it|describe)(?:\.(?!skip\b|todo\b)\w+(?:\([^)]*\))?)*\(\s*(["'`])(.+?)\1|^ *\]\)\(\s*(["'`])(.+?)\3/gms;

function titles(text: string): string[] {
  return [...text.matchAll(TITLE)].map((match) => match[2] ?? match[4] ?? "");
}

/** Each fault of the catalogue; some are proven in the long lane only. */
const FAULTS = range("F", 1, 48).map((id) => id.replace(/^F(?=\d$)/, "F0"));

function testFiles(endings: readonly string[]): string[] {
  return ["hub/src", "chat/src", "test"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => endings.some((ending) => path.endsWith(ending)))
      .map((path) => join(ROOT, folder, path)),
  );
}

describe("requirements", () => {
  const titlesIn = (...endings: string[]) => testFiles(endings).flatMap((path) => titles(readFileSync(path, "utf8")));
  const all = titlesIn(".test.ts");
  const carries = (id: string, among = all) =>
    among.filter((title) => new RegExp(`(?<![\\w-])${id}(?!\\d)`).test(title));

  it.each(PROVEN)("%s is proven by a test", (id) => {
    expect(carries(id).length).toBeGreaterThan(0);
  });

  it("each fault of the catalogue is proven by a test", () => {
    // Those in tables of rows become titles in test/faults/rows.ts.
    const rows = testFiles([".test.ts"]).flatMap((path) => readFileSync(path, "utf8").match(/\bid: "F\d\d"/g) ?? []);
    const named = [...all, ...titlesIn(".long.ts"), ...rows];
    expect(FAULTS.filter((id) => carries(id, named).length === 0)).toEqual([]);
  });

  it("is not satisfied by a comment, an assertion or another ID", () => {
    const text = `// XX-1\nexpect("XX-1");\nit("XX-12 is another", () => {});\nit.skip("XX-1 later");`;
    expect(titles(text)).toEqual(["XX-12 is another"]);
    expect(carries("XX-1")).toEqual([]);
  });

  it("finds titles of every form", () => {
    const text = [
      'it("a", f); it.each([1, 2])("b %d", f); describe(`c`, f); it.skipIf(true)("d", f);',
      'it.each([\n  ["x"],\n  ])(\n    "e",\n f);',
    ].join("\n");
    expect(titles(text)).toEqual(["a", "b %d", "c", "d", "e"]);
  });
});
