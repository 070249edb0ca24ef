import { describe, expect, it } from "vitest";
import { digestOf, KeptAnswers, type KeptAnswer } from "./kept-answers.ts";

const answer = (text: string, status = 200): KeptAnswer => ({ status, headers: {}, body: Buffer.from(text) });
const gives = (text: string, status?: number) => () => Promise.resolve(answer(text, status));
const later = () => {
  let resolve: (given: KeptAnswer) => void = () => undefined;
  const promise = new Promise<KeptAnswer>((settle) => (resolve = settle));
  return { promise, resolve: (given: KeptAnswer) => resolve(given) };
};
const text = async (given: ReturnType<KeptAnswers["answer"]>) => {
  const { answer: kept, replayed } = await given;
  return [kept.body.toString(), replayed];
};

describe("kept answers", () => {
  it("the first answer is given again, and nothing is done again", async () => {
    const kept = new KeptAnswers();
    expect(await text(kept.answer("k", "d", gives("one")))).toEqual(["one", false]);
    expect(await text(kept.answer("k", "d", gives("two")))).toEqual(["one", true]);
    expect(await text(kept.answer("other", "d", gives("two")))).toEqual(["two", false]);
  });

  it("whoever asks meanwhile waits", async () => {
    const kept = new KeptAnswers();
    const slow = later();
    const both = [kept.answer("k", "d", () => slow.promise), kept.answer("k", "d", gives("two"))];
    slow.resolve(answer("one"));
    expect(await Promise.all(both.map(text))).toEqual([
      ["one", false],
      ["one", true],
    ]);
  });

  it("another request with the same key is refused, while the first runs and after", async () => {
    const kept = new KeptAnswers();
    const slow = later();
    const first = kept.answer("k", "d", () => slow.promise);
    await expect(kept.answer("k", "e", gives("x"))).rejects.toMatchObject({ kind: "IdempotencyKeyReused" });
    slow.resolve(answer("one"));
    await first;
    await expect(kept.answer("k", "e", gives("x"))).rejects.toMatchObject({ kind: "IdempotencyKeyReused" });
  });

  it.each([
    [200, ["one", true]],
    [404, ["one", true]],
    [500, ["two", false]],
    [503, ["two", false]],
  ])("an answer of %i: %j", async (status, expected) => {
    const kept = new KeptAnswers();
    await kept.answer("k", "d", gives("one", status));
    expect(await text(kept.answer("k", "d", gives("two")))).toEqual(expected);
  });

  it("what threw can be tried again", async () => {
    const kept = new KeptAnswers();
    await expect(kept.answer("k", "d", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await text(kept.answer("k", "d", gives("two")))).toEqual(["two", false]);
  });

  it("SE-5 they are bounded: by their number, their age, their size, and the size of each", async () => {
    let now = 0;
    const kept = new KeptAnswers({ maxKeys: 2, maxAgeMs: 10, maxBytes: 8, maxAnswerBytes: 6, now: () => now });
    for (const key of ["a", "b", "c"]) await kept.answer(key, "d", gives(key));
    expect(await text(kept.answer("c", "d", gives("again")))).toEqual(["c", true]);
    expect(await text(kept.answer("a", "d", gives("again")))).toEqual(["again", false]);
    now = 11;
    expect(await text(kept.answer("c", "d", gives("again")))).toEqual(["again", false]);
    // Ten bytes are more than eight: the older one has gone.
    expect(await text(kept.answer("e", "d", gives("again")))).toEqual(["again", false]);
    expect(await text(kept.answer("c", "d", gives("anew")))).toEqual(["anew", false]);
    const large = new KeptAnswers({ maxAnswerBytes: 6 });
    await large.answer("k", "d", gives("seven b"));
    await expect(large.answer("k", "d", gives("x"))).rejects.toMatchObject({
      kind: "IdempotencyKeyReused",
      detail: expect.stringContaining("carried out"),
    });
  });

  it("SE-5 what still runs is never forgotten", async () => {
    const kept = new KeptAnswers({ maxKeys: 1 });
    const slow = later();
    const first = kept.answer("a", "d", () => slow.promise);
    await expect(kept.answer("b", "d", gives("x"))).rejects.toMatchObject({ kind: "RateLimited" });
    slow.resolve(answer("one"));
    expect(await text(first)).toEqual(["one", false]);
    expect(await text(kept.answer("b", "d", gives("two")))).toEqual(["two", false]);
  });

  it.each(["", "a b", "x".repeat(256), "ä"])("SE-5 the key %j is refused", async (key) => {
    await expect(new KeptAnswers().answer(key, "d", gives("x"))).rejects.toMatchObject({ field: "idempotency-key" });
  });

  it("method, address and body make a request", () => {
    const digests = [
      digestOf("POST", "/a", Buffer.from("{}")),
      digestOf("PUT", "/a", Buffer.from("{}")),
      digestOf("POST", "/b", Buffer.from("{}")),
      digestOf("POST", "/a", Buffer.from("{ }")),
    ];
    expect(new Set(digests).size).toBe(4);
    expect(digestOf("POST", "/a", Buffer.from("{}"))).toBe(digests[0]);
  });
});
