// Text edits change the intended data and keep everything else.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { removeMember, renameMember, setMember } from "./edit.ts";
import { parseJsonText } from "../parse/json.ts";
import type { Json, JsonObject } from "../parse/plain-object.ts";

const commented = `// my servers
{
  "mcpServers": {
    // the first
    "a": { "command": "x" }, // note a

    /* the second */
    "b": {
      "command": "y", // why y
      "args": ["1"] // note args
    } // note b
    // "old": {},
  }
}
`;

describe("setMember", () => {
  it("CF-10 adds below the last member and its comment", () => {
    expect(setMember(commented, ["mcpServers", "c"], { command: "z", args: ["-y", "p"] })).toBe(
      commented.replace(
        "} // note b\n",
        `}, // note b\n    "c": {\n      "command": "z",\n      "args": ["-y", "p"]\n    }\n`,
      ),
    );
  });

  it("CF-10 changes only what differs", () => {
    expect(setMember(commented, ["mcpServers", "b"], { command: "y", args: ["1", "2"], enabled: false })).toBe(
      commented.replace(`"args": ["1"] // note args\n`, `"args": ["1", "2"], // note args\n      "enabled": false\n`),
    );
    expect(setMember(commented, ["mcpServers", "b"], { args: ["1"] })).toBe(
      commented.replace(`      "command": "y", // why y\n`, ""),
    );
    expect(setMember(commented, ["mcpServers", "b"], { command: "y", args: ["1"] })).toBe(commented);
  });

  it.each([
    ["", `{\n  "m": {\n    "a": 1\n  }\n}\n`],
    ["// hello\n", `// hello\n{\n  "m": {\n    "a": 1\n  }\n}\n`],
    ["{}", `{\n  "m": {\n    "a": 1\n  }\n}`],
    [`{ "m": {} }`, `{ "m": {\n  "a": 1\n} }`],
    [`{"m":{"b":2}}`, `{"m":{"b":2, "a": 1}}`],
    [`{"m":{"b":2,}}`, `{"m":{"b":2, "a": 1,}}`],
    [`{\n\t"m": {\n\t\t// none yet\n\t}\n}`, `{\n\t"m": {\n\t\t// none yet\n\t\t"a": 1\n\t}\n}`],
    [
      `{\r\n    "m": {\r\n        "b": 2,\r\n    }\r\n}`,
      `{\r\n    "m": {\r\n        "b": 2,\r\n        "a": 1,\r\n    }\r\n}`,
    ],
    [`{\n  "m": 5\n}`, `{\n  "m": {\n    "a": 1\n  }\n}`],
  ])("keeps the layout of %j", (text, expected) => {
    const result = text.includes("5") ? setMember(text, ["m"], { a: 1 }) : setMember(text, ["m", "a"], 1);
    expect(result).toBe(expected);
  });
});

describe("removeMember and renameMember", () => {
  it("CF-10 removes a member with its line's comment, and keeps comments on lines of their own", () => {
    expect(removeMember(commented, ["mcpServers", "a"])).toBe(
      commented.replace(`    "a": { "command": "x" }, // note a\n`, ""),
    );
    const withoutB = removeMember(commented, ["mcpServers", "b"]);
    expect(withoutB).toContain(`"a": { "command": "x" } // note a\n`);
    expect(withoutB).toContain(`    // "old": {},\n`);
  });

  it.each([
    [`{"a": 1,}`, `{}`],
    [`{"a":1,"b":2}`, `{"b":2}`],
    [`{"b":2,"a":1}`, `{"b":2}`],
    [`{\n  "a": 1, // x\n}`, `{\n}`],
    [`{\n  "b": 2,\n  "a": 1\n}`, `{\n  "b": 2\n}`],
    [`{\n  "b": 2 /* , */,\n  "a": 1,\n}`, `{\n  "b": 2 /* , */,\n}`],
    [`{}`, `{}`],
  ])("from %j leaves %j", (text, expected) => {
    expect(removeMember(text, ["a"])).toBe(expected);
  });

  it("CF-10 renames in place", () => {
    expect(renameMember(commented, ["mcpServers", "a"], "z")).toBe(commented.replace(`"a":`, `"z":`));
  });
});

describe("any edit", () => {
  const key = fc.constantFrom("a", "b", "c", "d e", 'q"', "ü");
  const value: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<Json>(null, true, 0, "x // no", "/* , */", "${A}"),
      fc.array(tie("json"), { maxLength: 3 }),
      fc.dictionary(key, tie("json"), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).json;
  const object = fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true });

  /** JSON text with comments, commas and line breaks in all allowed positions. */
  const noise = fc.constantFrom("", " ", "\n", "\r\n", "\t", " // c, }\n", "/* c, } */", "/* a\n b */");
  const text = fc.tuple(object, fc.infiniteStream(noise)).map(([json, stream]) => {
    const next = (): string => String(stream.next().value);
    return { json, text: `${next()}${scribble(json, next)}${next()}` };
  });

  it("CF-8 the edited text parses to exactly the intended data", () => {
    fc.assert(
      fc.property(text, key, value, ({ json, text: before }, name, member) => {
        const set = setMember(before, [name], member);
        expect(parseJsonText(set, "f")).toEqual({ ...json, [name]: member });
        const { [name]: _removed, ...rest } = json as JsonObject;
        expect(parseJsonText(removeMember(before, [name]), "f")).toEqual(rest);
        expect(parseJsonText(removeMember(set, [name]), "f")).toEqual(rest);
      }),
      { numRuns: 2000 },
    );
  });

  it("CF-8 replaces an object by another", () => {
    fc.assert(
      fc.property(text, object, ({ text: before }, after) => {
        expect(parseJsonText(setMember(before, [], after), "f")).toEqual(after);
      }),
      { numRuns: 1000 },
    );
  });
});

function scribble(json: Json, next: () => string): string {
  if (Array.isArray(json))
    return list(
      "[",
      "]",
      json.map((item) => scribble(item, next)),
      next,
    );
  if (typeof json !== "object" || json === null) return JSON.stringify(json);
  const members = Object.entries(json).map(
    ([name, member]) => `${JSON.stringify(name)}${next()}:${next()}${scribble(member, next)}`,
  );
  return list("{", "}", members, next);
}

function list(open: string, close: string, parts: string[], next: () => string): string {
  const comma = parts.length > 0 && next().includes("\n") ? "," : "";
  return `${open}${next()}${parts.join(`${next()},${next()}`)}${next()}${comma}${next()}${close}`;
}
