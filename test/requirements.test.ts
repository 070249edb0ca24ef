// Each ID of requirements.ts occurs in a test title of the file it names, and every ID in a title is in requirements.ts. Whether
// a test proves its requirement is decided in review.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { REQUIREMENTS } from "./requirements.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The first string of a call of it, describe or family, which may follow a table. Skipped tests prove nothing. */
const TITLE =
  /\b(?:it|describe|family)(?:\.(?!skip\b|todo\b)\w+(?:\([^)]*\))?)*\(\s*(["'`])(.+?)\1|^ *\](?: as const)?\)\(\s*(["'`])(.+?)\3/gms;
/** Rows of a table of faults become titles. */
const ROW = /\bid: "([AFT]\d\d)"/g;
const ID = /(?<![\w-])(?:[A-Z]{2}-(?:N?T)?\d+|[AFT]\d\d)(?!\w)/g;
/** Anything that looks like an ID at the beginning of a title. */
const LEADING = /^(?:[A-Z]{1,2}(?:-[A-Z]*)?\d+ )+/;

function titlesIn(text: string): string[] {
  const titles = [...text.matchAll(TITLE)].map((match) => match[2] ?? match[4] ?? "");
  return [...titles, ...[...text.matchAll(ROW)].map(([, id = ""]) => id)];
}

const files = ["shared/src", "hub/src", "chat/src", "test"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path}`)
    .filter((path) => /\.(?:test|long)\.ts$/.test(path) && path !== "test/requirements.test.ts"),
);
const titles = new Map(files.map((path) => [path, titlesIn(readFileSync(join(ROOT, path), "utf8"))]));
const idsOf = (title: string): string[] => [...title.matchAll(ID)].map(([id]) => id);

describe("requirements", () => {
  it.each(Object.entries(REQUIREMENTS))("%s is proven where the catalogue says", (id, { provenBy }) => {
    expect(titles.get(provenBy)?.flatMap(idsOf)).toContain(id);
  });

  it("titles have no IDs that the catalogue does not explain", () => {
    const leading = [...titles.values()].flat().flatMap((title) => LEADING.exec(title)?.[0].trim().split(" ") ?? []);
    const named = [...titles.values()].flat().flatMap(idsOf);
    const unknown = [...new Set([...leading, ...named])].filter((id) => !Object.hasOwn(REQUIREMENTS, id));
    expect(unknown.toSorted()).toEqual([]);
  });

  it("a comment, an assertion, another ID or a skipped test does not count", () => {
    const text = `// XX-1\nexpect("XX-1");\nit("XX-12 is another", () => {});\nit.skip("XX-1 later");`;
    expect(titlesIn(text).flatMap(idsOf)).toEqual(["XX-12"]);
  });

  it("titles of every form are found", () => {
    const text = [
      'it("a", f); it.each([1, 2])("b %d", f); describe(`c`, f); it.skipIf(true)("d", f);',
      'it.each([\n  ["x"],\n  ])(\n    "e",\n f);',
    ].join("\n");
    expect(titlesIn(text)).toEqual(["a", "b %d", "c", "d", "e"]);
  });
});
