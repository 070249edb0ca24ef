import { describe, expect, it } from "vitest";
import { Cancellable, toAbortSignal, type Cancellation } from "./cancellation.ts";

/** Steps on a signal (+ add, - remove, ! cancel), and the listeners that are called. */
const STEPS: readonly [what: string, steps: string, heard: string][] = [
  ["one listener", "+a !", "a"],
  ["several, in order", "+a +b +c !", "abc"],
  ["one that left", "+a -a !", ""],
  ["the first of several left", "+a +b -a !", "b"],
  ["the last of several left", "+a +b -b !", "a"],
  ["one that left and came back", "+a +b -a +a !", "ba"],
  ["heard once", "+a ! !", "a"],
  ["one that was never there", "+a -b !", "a"],
];

function heardBy(signal: Cancellation, abort: () => void, steps: string): string {
  let heard = "";
  const listeners = { a: () => void (heard += "a"), b: () => void (heard += "b"), c: () => void (heard += "c") };
  for (const [verb, name] of steps.split(" ")) {
    const listener = listeners[name as keyof typeof listeners];
    if (verb === "+") signal.addEventListener("abort", listener, { once: true });
    else if (verb === "-") signal.removeEventListener("abort", listener);
    else abort();
  }
  return heard;
}

describe.each(STEPS)("a cancellation with %s", (_what, steps, heard) => {
  it("calls the same listeners as an AbortSignal", () => {
    const ours = new Cancellable();
    const theirs = new AbortController();
    expect(heardBy(ours, () => ours.abort(), steps)).toBe(heard);
    expect(heardBy(theirs.signal, () => theirs.abort(), steps)).toBe(heard);
    expect([ours.aborted, theirs.signal.aborted]).toEqual([true, true]);
  });
});

describe("as an AbortSignal", () => {
  it("aborts with the cancellation", () => {
    const ours = new Cancellable();
    const signal = toAbortSignal(ours);
    expect(signal.aborted).toBe(false);
    ours.abort();
    expect(signal.aborted).toBe(true);
  });

  it("is aborted from the start if the cancellation came before", () => {
    const ours = new Cancellable();
    ours.abort();
    expect(toAbortSignal(ours).aborted).toBe(true);
  });

  it("an AbortSignal is returned unchanged", () => {
    const { signal } = new AbortController();
    expect(toAbortSignal(signal)).toBe(signal);
  });
});
