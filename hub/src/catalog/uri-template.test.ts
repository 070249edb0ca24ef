import { describe, expect, it } from "vitest";
import { leastCpuMs } from "../../../test/support/cpu-time.ts";
import { UriTemplate } from "./uri-template.ts";

describe("URI templates", () => {
  it.each([
    ["messages://{source}/{chat}", "messages://telegram/Antti", true],
    ["messages://{source}/{chat}", "messages://telegram/Antti?since=7d&limit=100", true],
    ["messages://{source}/{chat}", "messages://telegram", false],
    ["messages://{source}/{chat}", "messages://telegram/", false],
    ["messages://{source}/{chat}", "messages:///Antti", false],
    ["messages://{source}/{chat}", "messages://telegram/Antti/more", false],
    ["messages://{source}/{chat}", "mail://telegram/Antti", false],
    ["x://{a}/fixed", "x://1/fixed", true],
    ["x://{a}/fixed", "x://1/fixed/fixed", false],
    ["x://{a}.{b}", "x://1.2.3", true],
    ["x://{a}.json", "x://1.json.json", true],
    ["x://{a}.json", "x://.json", false],
    ["x://{a}y/{b}", "x://1yy/2", true],
    ["x://{a}{b}", "x://1", true],
    ["x://{a,b}", "x://1,2", true],
    ["x://{id:3}", "x://abc", true],
    ["file:///{+path}", "file:///a/b/c.txt", true],
    ["file:///{+path}", "file:///", true],
    ["file:///{+path}", "http:///a", false],
    ["file:///{path*}", "file:///a/b", true],
    ["repo://{name}{/path*}", "repo://x/a/b", true],
    ["repo://{name}{/path*}", "repo://x", true],
    ["repo://{name}{/path*}", "repo://", false],
    ["repo://{+path}/edit/{id}", "repo://a/edit/b/edit/7", true],
    ["repo://{+path}/edit", "repo://a/b/edit", true],
    ["repo://{+path}/edit", "repo://a/b/read", false],
    ["q://find{?a,b}", "q://find", true],
    ["q://find{?a,b}", "q://find?a=1/2&b=", true],
    ["q://find{?a,b}", "q://finder", false],
    ["q://find?x=1{&a}", "q://find?x=1&a=2", true],
    ["q://{page}{#part}", "q://home#top", true],
    ["q://{page}{?v}{#part}", "q://home/sub?v=1", false],
    ["plain://no-expression", "plain://no-expression", true],
    ["plain://no-expression", "plain://no-expression2", false],
    ["broken://{open", "broken://{open", true],
    ["", "x", false],
    ["{+all}", "anything/at?all#here", true],
  ])("%s and %s: %s", (template, uri, expected) => {
    expect(new UriTemplate(template).matches(uri)).toBe(expected);
  });

  it.each([
    ["messages://{source}/{chat}", ""],
    ["{a},{b},{c}/{d}", "many segments"],
    ["{+a},{+b},{+c};", "anything"],
    ["{a},".repeat(15_000) + ";", "a hostile template of segments"],
    ["{+a},".repeat(12_000) + ";", "a hostile template of anything"],
    [`{+a}${",".repeat(30_000)};`, "a long literal that nearly matches"],
    ["{".repeat(60_000), "open braces"],
  ])("T18 64 KB of commas against %.30s: %s", (template) => {
    const uri = ",".repeat(65_536);
    const match = () => expect(new UriTemplate(template).matches(uri)).toBe(false);
    expect(leastCpuMs(match, 25)).toBeLessThan(25);
  });

  it("agrees with a regular expression on 20,000 random templates", () => {
    const seed = Date.now() >>> 0;
    const random = createRandom(seed);
    const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)] ?? "";
    for (let round = 0; round < 20_000; round++) {
      // At most one such expression, followed by literals only: after it, segments are matched loosely on purpose.
      const literals = ["a", "b", "/", "ab", "a/", "/b"];
      const head = Array.from({ length: 1 + random() * 4 }, () => pick([...literals, "{v}", "{v}"]));
      const tail = random() < 0.3 ? ["{+v}", ...Array.from({ length: random() * 3 }, () => pick(literals))] : [];
      const template = [...head, ...tail].join("");
      const uri = Array.from({ length: random() * 9 }, () => pick(["a", "b", "/"])).join("");
      // {v}{v} is one segment for us.
      const source = template.replaceAll(/(\{v\})+/g, "[^/]+").replaceAll("{+v}", ".*");
      const expected = new RegExp(`^${source}$`).test(uri);
      expect(new UriTemplate(template).matches(uri), `seed ${seed}: ${template} on ${uri}`).toBe(expected);
    }
  });
});

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
