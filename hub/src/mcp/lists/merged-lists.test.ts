// Merging lists of any kind.

import { describe, expect, it } from "vitest";
import type { Raw } from "../../protocol/rpc/jsonrpc.ts";
import { mergeLists } from "./merged-lists.ts";

const page = (json: string): Raw => ({ bytes: Buffer.from(json), value: JSON.parse(json) });
const merged = (...pages: string[]) => mergeLists(pages.map(page))?.bytes.toString();

describe("mergeLists", () => {
  it("GR-7 joins the entries, byte by byte, in their order", () => {
    expect(merged('{"x":1,"boards":[{"n":12345678901234567890}, 1.0]}', '{"boards":[]}', '{ "boards" : ["é"] }')).toBe(
      '{"boards":[{"n":12345678901234567890},1.0,"é"]}',
    );
  });

  it("GR-7 has the shortest lifetime and the narrowest cache scope", () => {
    const list = (ttlMs: number, cacheScope: string) => `{"a":[],"ttlMs":${ttlMs},"cacheScope":"${cacheScope}"}`;
    expect(merged(list(9, "public"), list(5, "public"))).toBe('{"a":[],"ttlMs":5,"cacheScope":"public"}');
    expect(merged(list(9, "public"), list(9, "private"))).toBe('{"a":[],"ttlMs":9,"cacheScope":"private"}');
    expect(merged(list(9, "public"), '{"a":[]}')).toBe('{"a":[]}');
  });

  it("GR-7 refuses pages without a list, or with different ones", () => {
    expect(merged()).toBeUndefined();
    expect(merged('{"a":[]}', '{"b":[]}')).toBeUndefined();
    expect(merged('{"a":[],"b":[]}')).toBeUndefined();
    expect(merged('{"a":[]}', "1")).toBeUndefined();
  });
});
