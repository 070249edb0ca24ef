// Cutting results, and reading the rest: pure, with a fake clock.

import { describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { raw } from "../../protocol/rpc/jsonrpc.ts";
import { CUT_META } from "./cut-result.ts";
import { KeptResults } from "./kept-results.ts";
import { cutText, pageOf, pagesOf } from "./pages.ts";

const OWNER = "ann in session 1";
const text = (value: string) => ({ type: "text", text: value });

function open(options: ConstructorParameters<typeof KeptResults>[0] = {}) {
  const kept = new KeptResults(options);
  const limit = (result: object, maxBytes: number, outputSchema?: unknown): JsonObject => {
    const { bytes, value } = kept.limit(raw(result), { maxBytes, owner: OWNER, outputSchema });
    expect(JSON.parse(bytes.toString())).toEqual(value);
    return isObject(value) ? value : {};
  };
  const read = (uri: string, owner = OWNER): JsonObject[] => {
    const { value } = kept.read(uri, owner);
    return isObject(value) && Array.isArray(value["contents"]) ? value["contents"] : [];
  };
  return { kept, limit, read };
}

function uriOf(result: JsonObject): string {
  const meta = isObject(result["_meta"]) ? result["_meta"][CUT_META] : undefined;
  return isObject(meta) ? String(meta["uri"]) : "";
}

describe("RG-3 a result within the limit", () => {
  it("is passed on as it is", () => {
    const result = raw({ content: [text("x".repeat(100))] });
    expect(new KeptResults().limit(result, { maxBytes: 1000, owner: OWNER, outputSchema: undefined })).toBe(result);
  });
});

describe("RG-3 a larger result", () => {
  it.each(["x", "é", "😀", "\u0000"])(
    "of %j is cut between characters, and the pages are the whole text",
    (character) => {
      const { limit, read } = open();
      const whole = character.repeat(5000);
      const cut = limit({ content: [text(whole)], isError: true, other: [1] }, 2000);
      expect(cut).toMatchObject({ isError: true, other: [1] });
      const [beginning, note, link] = cut["content"] as { text: string; uri: string; type: string }[];
      expect(whole.startsWith(beginning?.text ?? "-")).toBe(true);
      expect(Buffer.byteLength(beginning?.text ?? "")).toBeGreaterThan(1000);
      expect(note?.text).toMatch(
        /^\[This result has \d+ bytes and was cut\. All of it is the resource hub:\/\/results\/\S+, for 15 minutes\]$/,
      );
      expect(link).toMatchObject({ type: "resource_link", uri: `${uriOf(cut)}/0`, mimeType: "text/plain" });
      let all = "";
      for (let uri: unknown = link?.uri; typeof uri === "string";) {
        const [page] = read(uri);
        all += String(page?.["text"]);
        const meta = page?.["_meta"] as Record<string, { next?: string }>;
        uri = meta["io.plugboard/page"]?.next;
      }
      expect(all).toBe(whole);
      expect(read(uriOf(cut))).toMatchObject([{ text: whole }]);
    },
  );

  it("keeps blocks that fit, and links those that do not", () => {
    const { limit, read } = open();
    const data = Buffer.alloc(9000, 7).toString("base64");
    const resource = { uri: "file:///a", mimeType: "text/csv", text: "a,b\n".repeat(3000) };
    const image = { type: "image", mimeType: "image/png", data };
    const cut = limit({ content: [text("before"), image, { type: "resource", resource }, text("after")] }, 4000);
    expect(cut["content"]).toMatchObject([
      { text: "before" },
      { text: "after" },
      { text: expect.stringContaining("was cut") },
      { type: "resource_link", mimeType: "image/png" },
      { type: "resource_link", mimeType: "text/csv" },
    ]);
    expect(read(`${uriOf(cut)}/1`)).toEqual([{ uri: `${uriOf(cut)}/1`, mimeType: "image/png", blob: data }]);
    expect(read(`${uriOf(cut)}/2?page=2`)).toMatchObject([
      { mimeType: "text/csv", text: resource.text.slice(4000, 8000) },
    ]);
    expect(read(uriOf(cut))).toHaveLength(4);
  });

  it("of a thousand blocks has few links", () => {
    const { limit } = open();
    const cut = limit({ content: Array.from({ length: 1000 }, () => text("x".repeat(500))) }, 2000);
    expect(JSON.stringify(cut).length).toBeLessThan(6000);
  });
});

describe("RG-3 structured content", () => {
  const SCHEMA = {
    type: "object",
    properties: { rows: { type: "array", items: { type: "object", required: ["id"] } }, total: { type: "integer" } },
    required: ["rows", "total"],
  };
  const structuredContent = { rows: Array.from({ length: 500 }, (_, id) => ({ id, name: `row ${id}` })), total: 500 };
  const result = { content: [text(JSON.stringify(structuredContent))], structuredContent };

  it("is shortened to what matches the output schema", () => {
    const { limit, read } = open();
    const cut = limit(result, 4000, SCHEMA);
    const shown = cut["structuredContent"] as typeof structuredContent;
    expect(shown.total).toBe(500);
    expect(shown.rows.length).toBeGreaterThan(10);
    expect(shown.rows).toEqual(structuredContent.rows.slice(0, shown.rows.length));
    expect(JSON.stringify(cut["content"])).toContain("structuredContent were shortened");
    expect(JSON.parse(String(read(uriOf(cut)).at(-1)?.["text"]))).toEqual(structuredContent);
  });

  it("stays whole if nothing shorter matches", () => {
    const { limit } = open();
    const schema = { ...SCHEMA, properties: { rows: { type: "array", minItems: 500 } } };
    const cut = limit(result, 4000, schema);
    expect(cut["structuredContent"]).toEqual(structuredContent);
    expect(JSON.stringify(cut["content"])).toContain("structuredContent is whole");
  });

  it("that cannot be shortened is left out where no schema asks for it", () => {
    const { limit } = open();
    const wide = Object.fromEntries(Array.from({ length: 3000 }, (_, id) => [`key${id}`, id]));
    const other = limit({ content: [text("x".repeat(9000))], structuredContent: wide }, 2000);
    expect(Object.hasOwn(other, "structuredContent")).toBe(false);
  });
});

describe("T06 what was cut", () => {
  it("is read by its owner only, and not for ever", () => {
    let now = 0;
    const { limit, read } = open({ now: () => now });
    const uri = uriOf(limit({ content: [text("x".repeat(5000))] }, 1000));
    expect(() => read(uri, "bob in session 2")).toThrow("Resource not found");
    expect(() => read(`${uri}x`)).toThrow("Resource not found");
    expect(() => read(`${uri}/7`)).toThrow("Resource not found");
    expect(() => read(`${uri}/0?page=99`)).toThrow("Resource not found");
    expect(() => read(`${uri}/0?page=0`)).toThrow("Resource not found");
    now += 15 * 60_000 - 1;
    expect(read(uri)).toHaveLength(1);
    now += 1;
    expect(() => read(uri)).toThrow("Resource not found");
  });

  it("takes bounded memory: the oldest goes first", () => {
    const { limit, read } = open({ maxBytes: 30_000 });
    const [first = "", second = "", third = ""] = [1, 2, 3].map(() =>
      uriOf(limit({ content: [text("x".repeat(12_000))] }, 1000)),
    );
    expect(() => read(first)).toThrow("Resource not found");
    expect([read(second), read(third)]).toEqual([[expect.anything()], [expect.anything()]]);
  });
});

describe("RG-3 pages", () => {
  it("never break a character", () => {
    const whole = "aé😀".repeat(1000);
    const pages = Array.from({ length: pagesOf(whole, 1001) }, (_, at) => pageOf(whole, at + 1, 1001));
    expect(pages.join("")).toBe(whole);
    expect(pages.join("")).not.toContain("\ufffd");
    expect(cutText(whole, 5)).toBe("aé");
  });
});
