// Recorded payloads are valid JSON of bounded size without the secret, for any bytes.

import { expect, it } from "vitest";
import { Redactor } from "../../hub/src/redaction/redactor.ts";
import { fuzz, FUZZ_MS } from "./fuzz.ts";

const SECRET = "s3cr3t/T0ken+Value";
const MAX_BYTES = 300;

const CORPUS = [
  `{"content":[{"type":"text","text":"key ${SECRET} here"}]}`,
  `{"password":"hunter2","nested":{"api_key":["a",1,null]},"url":"http://x/?token=abc%2Fdef"}`,
  `{"text":${JSON.stringify(JSON.stringify({ authorization: `Bearer ${SECRET}` }))}}`,
  `{"a":"${encodeURIComponent(SECRET)}","b":"${Buffer.from(SECRET).toString("base64")}"}`,
  `{"a":"${Buffer.from(SECRET).toString("hex")}","b":"\\u0073${SECRET.slice(1).replace("/", "\\/")}"}`,
  `{"long":"${"x".repeat(MAX_BYTES - 30)}${SECRET}${"y".repeat(50)}"}`,
  `{"escapes":"${"%25".repeat(60)}${"\\\\u005c".repeat(20)}"}`,
  '{"plain":[1,2,3.5,true,null,"ä€\u{1f600}"]}',
];

it("T12 SE-1 SE-5 stored payloads are bounded JSON on one line without the secret", { timeout: FUZZ_MS }, () => {
  const redactor = new Redactor({ maxBytes: MAX_BYTES });
  redactor.setSecrets("server", [SECRET]);
  const outcomes = fuzz({
    name: "redactor",
    corpus: CORPUS,
    quickRuns: 8000,
    check: (input) => {
      requireClean(redactor.redactText(input.toString()));
      // Only JSON is recorded.
      const value = parse(input);
      if (value === undefined) return "no JSON";
      const { json, truncated } = redactor.redact(input);
      const text = json?.toString() ?? "";
      requireClean(text);
      if (/[\r\n]/.test(text)) expect.fail("more than one line");
      if (parse(Buffer.from(text)) === undefined) expect.fail(`no JSON any more: ${text}`);
      // The mask of truncated text may be slightly longer than the text.
      if (text.length > MAX_BYTES + 100) expect.fail(`${text.length} characters`);
      return truncated ? "cut" : json?.equals(input) === true ? "same" : "masked";
    },
  });
  expect(new Set(outcomes.keys())).toEqual(new Set(["no JSON", "cut", "same", "masked"]));
});

function requireClean(text: string): void {
  if (text.includes(SECRET) || text.includes(encodeURIComponent(SECRET))) expect.fail(`the secret is in ${text}`);
}

function parse(input: Buffer): unknown {
  try {
    return JSON.parse(input.toString());
  } catch {
    return undefined;
  }
}
