// T12 as a property: no record contains a secret in any form of the threat model (redactor.ts).

import fc from "fast-check";
import { expect, it } from "vitest";
import { hasCredentialMember } from "./credential-members.ts";
import { Redactor } from "./redactor.ts";
import { scaled } from "../../../test/support/scale.ts";

const RUNS = scaled(300, 5000);

const oneOf = (letters: string) => fc.constantFrom(...Array.from(letters));
const text = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: "grapheme", maxLength: 12 }));
/** Realistic tokens and arbitrary texts. */
const secret = fc
  .oneof(
    fc.string({ unit: oneOf("abcXYZ019+/=_-"), minLength: 4, maxLength: 40 }),
    fc.string({ unit: oneOf('"\\/% \nu041{}:,é😀'), minLength: 4, maxLength: 12 }),
    fc.string({ unit: "grapheme", minLength: 4, maxLength: 20 }),
    fc.string({ unit: oneOf("0123456789"), minLength: 4, maxLength: 25 }),
  )
  // Surrounding white space is not part of a secret, and the mask itself cannot be masked.
  .filter((value) => value.trim().length >= 4 && !'"***"'.includes(value) && !/\p{Surrogate}/u.test(value));

const escapeAll = (value: string) =>
  Array.from({ length: value.length }, (_, at) => `\\u${value.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");
const percentAll = (value: string) =>
  [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

/** The secret in a form, as the content of a JSON string. */
const inString = (content: string) => JSON.stringify(content).slice(1, -1);
const forms: Record<string, (value: string, before: string, after: string) => string> = {
  plain: inString,
  escaped: escapeAll,
  slashes: (value) => inString(value).replaceAll("/", "\\/"),
  base64: (value, before, after) => Buffer.from(before + value + after).toString("base64"),
  base64url: (value, before, after) => Buffer.from(before + value + after).toString("base64url"),
  hex: (value) => Buffer.from(value).toString("hex"),
  hexCapitals: (value) => Buffer.from(value).toString("hex").toUpperCase(),
  url: (value) => inString(encodeURIComponent(value)),
  urlAll: percentAll,
  query: (value) => new URLSearchParams([["q", value]]).toString(),
  nested: (value) => inString(JSON.stringify({ a: value })),
  nestedInUrl: (value) => encodeURIComponent(JSON.stringify([value])).replaceAll("'", "%27"),
};

/** All results of decoding the text once or twice. */
function readings(json: string): string[] {
  const strings: string[] = [json];
  JSON.parse(json, (key, value: unknown) => {
    strings.push(key, typeof value === "string" ? value : JSON.stringify(value));
    return value;
  });
  const once = strings.flatMap(decodings);
  return [...strings, ...once, ...once.flatMap(decodings)];
}

function decodings(value: string): string[] {
  const out = [value.replaceAll("+", " ")];
  // Exceptions are slow, so most values are filtered before decoding.
  if (value.includes("%")) {
    try {
      out.push(decodeURIComponent(value), decodeURIComponent(value.replaceAll("+", " ")));
    } catch {
      // not encoded
    }
  }
  if (/^\s*(?:[[{"\d-]|true|false|null)/.test(value)) {
    try {
      JSON.parse(value, (_key, item: unknown) => out.push(String(item)) && item);
    } catch {
      // no JSON
    }
  }
  for (const run of value.match(/[\w+/=-]{5,}/g) ?? []) out.push(Buffer.from(run, "base64").toString());
  for (const run of value.match(/[0-9a-f]{8,}/gi) ?? []) out.push(Buffer.from(run, "hex").toString());
  return out;
}

it.each(Object.entries(forms))("T12 secrets are masked: %s", (_name, form) => {
  fc.assert(
    fc.property(
      fc.array(secret, { minLength: 1, maxLength: 3 }),
      fc.nat(),
      text,
      text,
      (secrets, pick, before, after) => {
        const value = secrets[pick % secrets.length] ?? "";
        const redactor = new Redactor();
        redactor.setSecrets("server", secrets);
        const content = inString(before) + form(value, before, after) + inString(after);
        const input = `{"content":[{"type":"text","text":"${content}"}],"isError":false}`;
        const { json } = redactor.redact(Buffer.from(input));
        const found = readings(String(json)).find((reading) => reading.includes(value));
        expect(found).toBeUndefined();
      },
    ),
    { numRuns: RUNS },
  );
});

it("T12 values of credential names are masked, and the rest is unchanged", () => {
  const word = fc.constantFrom("password", "secret", "token", "authorization", "api_key", "cookie", "private_key");
  const spell = fc.constantFrom<(key: string) => string>(
    (key) => key.toUpperCase(),
    (key) => `X-${key.replaceAll("_", "-")}`,
    (key) => key.replaceAll("_", ""),
    (key) => key.replaceAll(/_(.)/g, (_match, letter: string) => letter.toUpperCase()),
    escapeAll,
  );
  fc.assert(
    fc.property(word, spell, fc.jsonValue(), text, (name, spelled, other, value) => {
      fc.pre(!JSON.stringify(other).includes("MARKER"));
      const input = `{"other":${JSON.stringify(other)},"${spelled(name)}":${JSON.stringify(`MARKER${value}`)}}`;
      const { json } = new Redactor().redact(Buffer.from(input));
      expect(String(json)).not.toContain("MARKER");
    }),
    { numRuns: RUNS },
  );
});

it("T12 data without secrets is unchanged", () => {
  const redactor = new Redactor();
  redactor.setSecrets("server", ["ghp_0123456789abcdefABCDEF"]);
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const bytes = Buffer.from(JSON.stringify({ value }));
      fc.pre(!hasCredentialMember(bytes));
      expect(redactor.redact(bytes)).toEqual({ json: bytes, truncated: false });
    }),
    { numRuns: RUNS },
  );
});
