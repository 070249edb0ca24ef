// Every curated server can be added as it is.

import { describe, expect, it } from "vitest";
import { draftsOf, entryName } from "../draft/draft.ts";
import { OFFER_KINDS } from "../model.ts";
import { curatedRecords } from "./records.ts";

const records = curatedRecords();

describe("RG-1 the curated list", () => {
  it("RG-1 has about 40 servers with different names", () => {
    expect(records.length).toBeGreaterThanOrEqual(40);
    expect(new Set(records.map(({ name }) => name)).size).toBe(records.length);
    expect(new Set(records.map(entryName)).size).toBe(records.length);
  });

  it.each(records.map((record) => [record.name, record] as const))("RG-1 %s gives a draft", (_name, record) => {
    const { drafts, unusable } = draftsOf(record, "curated", new Set(OFFER_KINDS));
    expect(unusable).toEqual([]);
    expect(drafts).toHaveLength(1);
    expect(drafts[0]?.warnings).toEqual([]);
    expect(record.description).toBeDefined();
  });
});
