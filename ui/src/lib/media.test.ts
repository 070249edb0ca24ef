import { describe, expect, it } from "vitest";
import { fromBase64, imageTypeOf, toHex } from "./media.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("pictures in answers", () => {
  it.each([
    ["a PNG", Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d), "image/png"],
    ["a JPEG", Uint8Array.of(0xff, 0xd8, 0xff, 0xe0), "image/jpeg"],
    ["a WebP", bytes("RIFF1234WEBPVP8 "), "image/webp"],
    ["an SVG", bytes('<?xml version="1.0"?>\n<svg xmlns="…">'), "image/svg+xml"],
    ["HTML that says it is a picture", bytes("<html><script>alert(1)</script>"), undefined],
    ["nothing", new Uint8Array(), undefined],
  ])("%s", (_, given, expected) => {
    expect(imageTypeOf(given)).toBe(expected);
  });

  it("what is not base64 gives no bytes", () => {
    expect(fromBase64("aGk=")).toEqual(Uint8Array.of(104, 105));
    expect(fromBase64("***")).toBeUndefined();
  });

  it("other bytes are shown as numbers and text", () => {
    expect(toHex(bytes("hi\n"))).toBe(`00000000  68 69 0a${" ".repeat(39)}  hi.`);
  });
});
