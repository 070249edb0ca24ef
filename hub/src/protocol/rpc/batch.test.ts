// Batches of clients and of servers.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isArray, readBatch, readClientBatch, writeBatch } from "./batch.ts";
import { RPC } from "./jsonrpc.ts";

const read = (text: string, max = 10) => readBatch(Buffer.from(text), { max, maxDepth: 8 });

describe("readBatch", () => {
  it("CL-9 returns the unchanged bytes of every member, and writes them back", () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue({ maxDepth: 4 }), { minLength: 1, maxLength: 10 }),
        fc.boolean(),
        (values, wide) => {
          const batch = read(JSON.stringify(values, undefined, wide ? 2 : 0));
          if (batch?.kind !== "batch") throw new Error("no batch");
          expect(batch.members.map((member) => JSON.parse(member.toString()))).toEqual(
            JSON.parse(JSON.stringify(values)),
          );
          expect(JSON.parse(writeBatch(batch.members).toString())).toEqual(JSON.parse(JSON.stringify(values)));
        },
      ),
    );
  });

  it("CL-9 returns undefined for anything but an array", () => {
    for (const text of ["", " ", "{}", '"[]"', "7"]) expect(read(text)).toBeUndefined();
    expect(isArray(Buffer.from("\n\t [1]"))).toBe(true);
  });

  it.each([
    ["[", RPC.parseError],
    ["[1", RPC.parseError],
    ["[1,", RPC.parseError],
    ["[1 2]", RPC.parseError],
    ["[,1]", RPC.parseError],
    ["[1],[2]", RPC.parseError],
    ["[1]x", RPC.parseError],
    [`[${"[".repeat(9)}${"]".repeat(9)}]`, RPC.parseError],
    ["[]", RPC.invalidRequest],
    ["[1,2,3,4,5,6,7,8,9,10,11]", RPC.invalidRequest],
  ])("SE-5 %s is refused", (text, code) => {
    expect(read(text)).toMatchObject({ kind: "refused", code });
  });

  it("SE-5 stops reading at one member beyond the limit", () => {
    expect(read(`[${"1,".repeat(1 << 20)}`)).toMatchObject({ kind: "refused", code: RPC.invalidRequest });
  });
});

describe("readClientBatch", () => {
  const message = Buffer.from('[{"jsonrpc":"2.0","id":1,"method":"x"},7]');
  const of = (version: string | undefined) => readClientBatch(message, { version, maxDepth: 64 });

  it.each(["2024-11-05", "2025-03-26"])(
    "CL-9 accepts a batch in a session of %s, malformed messages included",
    (version) => {
      expect(of(version)).toMatchObject({
        kind: "messages",
        messages: [{ kind: "request", id: 1 }, { kind: "malformed" }],
      });
    },
  );

  it.each(["2025-06-18", "2025-11-25", undefined])("CL-9 refuses a batch in a session of %s", (version) => {
    expect(of(version)).toMatchObject({ kind: "refused", code: RPC.invalidRequest });
  });
});
