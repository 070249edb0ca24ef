// DNS lookups: single flight, no cache, and localhost without a lookup.

import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createLookup } from "./lookup.ts";

type Given = string | LookupAddress[];

/** A system lookup that the test completes. */
function slowSystem() {
  const questions: { host: string; answer: (error: NodeJS.ErrnoException | null, given: Given) => void }[] = [];
  const ask: LookupFunction = (host, _, callback) => questions.push({ host, answer: callback });
  return { questions, lookup: createLookup(ask) };
}

function found(lookup: LookupFunction, host: string, options: Parameters<LookupFunction>[1] = { all: true }) {
  return new Promise<Given>((resolve, reject) =>
    lookup(host, options, (error, given) => (error === null ? resolve(given) : reject(error))),
  );
}

const THERE = [{ address: "192.0.2.1", family: 4 }];

describe("lookup", () => {
  afterEach(() => void vi.useRealTimers());

  it("F28 concurrent lookups of a name share one, and the next starts a new one", async () => {
    const { questions, lookup } = slowSystem();
    const first = [found(lookup, "a.test"), found(lookup, "a.test"), found(lookup, "a.test")];
    const other = found(lookup, "b.test");
    expect(questions.map(({ host }) => host)).toEqual(["a.test", "b.test"]);
    questions[0]?.answer(null, THERE);
    expect(await Promise.all(first)).toEqual([THERE, THERE, THERE]);
    questions[1]?.answer(null, []);
    expect(await other).toEqual([]);
    const again = found(lookup, "a.test");
    expect(questions).toHaveLength(3);
    questions[2]?.answer(null, []);
    expect(await again).toEqual([]);
  });

  it("F28 a failure fails all waiting lookups and no later one", async () => {
    const { questions, lookup } = slowSystem();
    const both = Promise.allSettled([found(lookup, "a.test"), found(lookup, "a.test")]);
    questions[0]?.answer(new Error("no such name"), []);
    expect((await both).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    const again = found(lookup, "a.test");
    questions[1]?.answer(null, THERE);
    expect(await again).toEqual(THERE);
  });

  it("F28 two run at a time; a lookup that waited too long in the queue is dropped", async () => {
    vi.useFakeTimers();
    const { questions, lookup } = slowSystem();
    const answers = ["a", "b", "c", "d"].map((name) => found(lookup, `${name}.test`));
    const asked = () => questions.map(({ host }) => host);
    expect(asked()).toEqual(["a.test", "b.test"]);
    questions[0]?.answer(null, THERE);
    expect(asked()).toEqual(["a.test", "b.test", "c.test"]);
    vi.advanceTimersByTime(5001);
    const later = found(lookup, "later.test");
    questions[1]?.answer(null, THERE);
    expect(asked()).toEqual(["a.test", "b.test", "c.test", "later.test"]);
    questions[2]?.answer(null, THERE);
    questions[3]?.answer(null, THERE);
    const settled = await Promise.allSettled([...answers, later]);
    expect(settled.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    expect(settled[3]).toMatchObject({ reason: { code: "EAI_AGAIN" } });
  });

  it.each(["localhost", "LocalHost", "app.localhost", "localhost."])(
    "F28 %s is loopback, without a lookup",
    async (host) => {
      const { questions, lookup } = slowSystem();
      const here = [
        { address: "127.0.0.1", family: 4 },
        { address: "::1", family: 6 },
      ];
      expect(await found(lookup, host)).toEqual(here);
      expect(await found(lookup, host, { all: true, family: 6 })).toEqual(here.slice(1));
      expect(await found(lookup, host, { all: false })).toBe("127.0.0.1");
      expect(questions).toEqual([]);
    },
  );

  it.each(["notlocalhost", "localhost.test", "localhosts"])("F28 %s is looked up", (host) => {
    const { questions, lookup } = slowSystem();
    lookup(host, { all: true }, () => undefined);
    expect(questions).toHaveLength(1);
  });
});
