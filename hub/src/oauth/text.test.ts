import { describe, expect, it } from "vitest";
import { shownText } from "./text.ts";

describe("text of an authorization server", () => {
  it.each([
    ["as it is", "The user declined", "The user declined"],
    ["on one line", "a\r\nb\tc", "a  b c"],
    ["with hidden characters made visible", "a\u202eb\u0000c", "a\\u202eb\\u0000c"],
    ["not if it is no text", { error: "x" }, undefined],
    ["not if it is empty", " \n ", undefined],
  ])("is shown %s", (_name, value, shown) => expect(shownText(value)).toBe(shown));

  it("is cut at 200 characters, between characters", () => {
    expect(shownText("\u{1f600}".repeat(300))).toBe(`${"\u{1f600}".repeat(199)}…`);
    expect(shownText("x".repeat(200))).toBe("x".repeat(200));
    expect(shownText("x".repeat(65), { max: 64 })).toHaveLength(64);
  });

  const secret = "s3cr+t/välue=";
  it.each([
    ["plain", secret],
    ["percent-encoded", encodeURIComponent(secret)],
    ["form-encoded", new URLSearchParams({ a: secret }).toString().slice(2)],
    ["base64", Buffer.from(secret).toString("base64")],
    ["base64url", Buffer.from(secret).toString("base64url")],
    ["hex", Buffer.from(secret).toString("hex")],
  ])("T12 does not show what we sent: %s", (_name, quoted) => {
    expect(shownText(`the code ${quoted} is wrong`, { secrets: [secret] })).toBe("the code *** is wrong");
  });

  it("T12 leaves no beginning of a secret at the cut", () => {
    const long = "k".repeat(60);
    expect(shownText(`${"a ".repeat(90)}${long}`, { secrets: [long] })).not.toContain("k");
  });
});
