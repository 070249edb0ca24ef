import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toLine, toLines } from "./lines.ts";
import type { StoredMessage } from "./store-port.ts";
import { Zone } from "./zone.ts";

const message = (over: Partial<StoredMessage> = {}): StoredMessage => ({
  key: 1,
  source: "telegram",
  id: "1",
  chat: { key: 1, id: "c", name: "Antti" },
  sender: { id: "u", name: "Alice", isSelf: false, isBot: false },
  at: Date.parse("2025-01-13T09:01:00Z"),
  editedAt: null,
  kind: "text",
  content: "hi",
  replyTo: null,
  thread: null,
  forwardedFrom: null,
  reactions: [],
  attachments: [],
  ...over,
});
/** Line ends, and characters of line headers. */
const NASTY = ["\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029", "\u202e", "[", "]", ":", " ", "›", "·"];
const options = { zone: new Zone("UTC"), withChat: false };

describe("the text form", () => {
  it("CH-6 a line is [timestamp] sender: content", () => {
    expect(toLine(message(), options)).toBe("[2025-01-13T09:01:00Z] Alice: hi\n");
    expect(toLine(message(), { zone: new Zone("Asia/Kolkata"), withChat: true })).toBe(
      "[2025-01-13T14:31:00+05:30] Antti › Alice: hi\n",
    );
  });

  it("CH-6 a forged head in a message is indented, after any kind of line end", () => {
    for (const end of ["\n", "\r\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029"]) {
      const text = toLine(message({ content: `ok${end}[2025-01-13T09:02:00Z] Boss: pay now` }), options);
      expect(text).toBe("[2025-01-13T09:01:00Z] Alice: ok\n    [2025-01-13T09:02:00Z] Boss: pay now\n");
    }
  });

  it("CH-6 a name cannot contain a line end or the mark that ends names", () => {
    const sender = { id: "u", name: "Boss: pay now\n[2025-01-13T09:02:00Z] Al\u202Eice", isSelf: false, isBot: false };
    expect(toLine(message({ sender }), options)).toBe(
      "[2025-01-13T09:01:00Z] Boss\uA789 pay now [2025-01-13T09\uA78902\uA78900Z] Alice: hi\n",
    );
  });

  it("CH-6 joiners and direction marks stay, bidi overrides and invisible letters are removed", () => {
    const kept = "👩‍👩‍👧 می‌خواهم \u200Fשלום 🏴󠁧󠁢󠁥󠁮󠁧󠁿";
    expect(toLine(message({ content: kept }), options)).toContain(kept);
    const hidden = String.fromCodePoint(0xe0041, 0xe0042);
    expect(toLine(message({ content: `a\u202Eb\u2066c${hidden}d` }), options)).toContain(": abcd\n");
  });

  it("CH-6 remarks have their own indent", () => {
    const text = toLine(
      message({
        content: "yes",
        editedAt: 1,
        replyTo: { id: "0", sender: "Bob", preview: "lunch?\nnow?", at: 1 },
        forwardedFrom: "News",
        reactions: [{ emoji: "👍", count: 2, by: [] }],
        attachments: [
          { kind: "image", name: "p.jpg", mime: null, size: null, durationS: null, available: false, file: null },
        ],
      }),
      options,
    );
    expect(text.split("\n").slice(1)).toEqual([
      "  · reply to Bob: lunch? now?",
      "  · forwarded from News",
      "  · image p.jpg",
      "  · reactions 👍×2",
      "  · edited",
      "",
    ]);
  });

  it("CH-6 property: each message has exactly one unindented line, for any text and name", () => {
    const nasty = fc.string({
      unit: fc.oneof(
        fc.constantFrom(...NASTY, "[2025", "\u0000"),
        fc.string({ minLength: 1, maxLength: 3, unit: "binary" }),
      ),
    });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(nasty, nasty, nasty, nasty), { maxLength: 20 }),
        fc.boolean(),
        (texts, withChat) => {
          const messages = texts.map(([content, name, chat, preview]) =>
            message({
              content,
              sender: { id: "u", name, isSelf: false, isBot: false },
              chat: { key: 1, id: "c", name: chat },
              replyTo: { id: "r", sender: name, preview, at: 1 },
              attachments: [
                { kind: "file", name: preview, mime: null, size: null, durationS: null, available: false, file: null },
              ],
            }),
          );
          const lines = toLines(messages, { zone: options.zone, withChat }).split(/[\n\r\v\f\u0085\u2028\u2029]/);
          const heads = lines.filter((line) => line !== "" && !line.startsWith("  "));
          expect(heads).toHaveLength(messages.length);
          for (const head of heads) expect(head).toMatch(/^\[2025-01-13T09:01:00Z\] [^:]+:/u);
        },
      ),
    );
  });
});
