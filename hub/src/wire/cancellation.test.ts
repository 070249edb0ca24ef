import { describe, expect, it } from "vitest";
import { Cancellable, toAbortSignal, type Cancellation } from "./cancellation.ts";

/** What is done with a signal on the way of a request, and who then hears of the end. */
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
  it("tells as an AbortSignal does", () => {
    const ours = new Cancellable();
    const theirs = new AbortController();
    expect(heardBy(ours, () => ours.abort(), steps)).toBe(heard);
    expect(heardBy(theirs.signal, () => theirs.abort(), steps)).toBe(heard);
    expect([ours.aborted, theirs.signal.aborted]).toEqual([true, true]);
  });
});

describe("as an AbortSignal", () => {
  it("aborts with it", () => {
    const ours = new Cancellable();
    const signal = toAbortSignal(ours);
    expect(signal.aborted).toBe(false);
    ours.abort();
    expect(signal.aborted).toBe(true);
  });

  it("is aborted from the beginning where it came too late", () => {
    const ours = new Cancellable();
    ours.abort();
    expect(toAbortSignal(ours).aborted).toBe(true);
  });

  it("one that is one already is itself", () => {
    const { signal } = new AbortController();
    expect(toAbortSignal(signal)).toBe(signal);
  });
});
