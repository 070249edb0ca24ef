import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChatError } from "../errors.ts";
import { chatUri, nextUri, parseUri } from "./uris.ts";

describe("the resources' URIs", () => {
  it.each([
    ["messages://telegram/Antti", { source: "telegram", chat: "Antti" }],
    ["messages://telegram/*", { source: "telegram" }],
    ["messages://telegram/*?chat=Antti&search=a%20b", { chat: "Antti", search: "a b" }],
    ["messages://telegram/%2A", { chat: "*" }],
    ["messages://signal/Book%20club%2F2?sender=+358401", { chat: "Book club/2", sender: "+358401" }],
  ])("CH-6 %s", (uri, args) => {
    expect(parseUri(uri)).toMatchObject({ kind: "messages", args });
  });

  it("CH-6 limit, offset and cursor are parsed as the page", () => {
    expect(parseUri("messages://t/a?limit=100&offset=100")).toMatchObject({ page: { limit: 100, offset: 100 } });
    expect(parseUri("messages://t/a?cursor=abc")).toMatchObject({ page: { limit: 50, cursor: "abc" } });
    expect(nextUri("messages://t/a?limit=5&offset=5&cursor=x", "y z")).toBe("messages://t/a?limit=5&cursor=y%20z");
  });

  it.each([
    "file:///etc/passwd",
    "messages://",
    "messages://telegram",
    "messages://telegram/",
    "chats://a/b",
    "messages://a/b/c",
    "",
  ])("CH-8 %j is not a resource of ours", (uri) => {
    expect(parseUri(uri)).toBeUndefined();
  });

  it.each([
    ["messages://t/a?limit=0", "limit"],
    ["messages://t/a?limit=501", "limit"],
    ["messages://t/a?offset=-1", "offset"],
    ["messages://t/a?colour=red", "colour"],
    ["messages://t/a?limit=1&limit=2", "limit"],
    ["messages://t/a?chat=b", "chat"],
    ["messages://t/a?mode=magic", "mode"],
    ["messages://t/%E0%A4", "uri"],
  ])("CH-8 %s: the error names the invalid parameter", (uri, field) => {
    expect(() => parseUri(uri)).toThrow(
      expect.objectContaining({ code: "INVALID_PARAMETER", details: expect.objectContaining({ field }) }),
    );
  });

  it("CH-6 property: a chat of any name is found by its URI, and nothing but a ChatError is thrown", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (name) => {
        expect(parseUri(chatUri("telegram", name))).toMatchObject({ args: { source: "telegram", chat: name } });
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (chat, query) => {
        try {
          parseUri(`messages://t/${chat}?${query}`);
        } catch (error) {
          expect(error).toBeInstanceOf(ChatError);
        }
      }),
    );
  });
});
