import { describe, expect, it } from "vitest";
import { SingleFlight } from "./single-flight.ts";

const never = new AbortController().signal;

/** Work that ends when the test says so, or when it is cancelled. */
function work() {
  let finish: (value: string) => void = () => undefined;
  let begun = 0;
  let ended = 0;
  const begin = (signal: AbortSignal) => {
    begun++;
    return new Promise<string>((resolve, reject) => {
      finish = resolve;
      signal.addEventListener("abort", () => {
        setImmediate(() => {
          ended++;
          reject(new Error("ended"));
        });
      });
    });
  };
  return { begin, finish: (value: string) => finish(value), counts: () => ({ begun, ended }) };
}

describe("single flight", () => {
  it("runs once for all concurrent callers", async () => {
    const shared = new SingleFlight<string>();
    const { begin, finish, counts } = work();
    const all = [1, 2, 3].map(() => shared.join("a", never, begin));
    await Promise.resolve();
    finish("done");
    expect(await Promise.all(all)).toEqual(["done", "done", "done"]);
    expect(counts()).toEqual({ begun: 1, ended: 0 });
  });

  it("continues while a caller waits, and is cancelled with the last one", async () => {
    const shared = new SingleFlight<string>();
    const { begin, counts } = work();
    const [first, last] = [new AbortController(), new AbortController()];
    const left = shared.join("a", first.signal, begin).catch((error: unknown) => error);
    const stayed = shared.join("a", last.signal, begin).catch((error: unknown) => error);
    await Promise.resolve();
    first.abort();
    expect(await left).toMatchObject({ kind: "Cancelled" });
    expect(counts()).toEqual({ begun: 1, ended: 0 });
    last.abort();
    expect(await stayed).toMatchObject({ kind: "Cancelled" });
    // The last caller that gives up waits until the work has ended.
    expect(counts()).toEqual({ begun: 1, ended: 1 });
  });

  it("starts again for a caller that arrives during the cancellation", async () => {
    const shared = new SingleFlight<string>();
    const { begin, finish, counts } = work();
    const abort = new AbortController();
    const left = shared.join("a", abort.signal, begin).catch(() => "gone");
    await Promise.resolve();
    abort.abort();
    // Whether the cancelled work has ended or not, a new caller does not join it.
    await new Promise((resolve) => setImmediate(resolve));
    const come = shared.join("a", never, begin);
    expect(await left).toBe("gone");
    await expect.poll(() => counts().begun).toBe(2);
    finish("done");
    expect(await come).toBe("done");
  });

  it("an error is passed to all callers, and the next call runs again", async () => {
    const shared = new SingleFlight<string>();
    const failing = () => Promise.reject(new Error("no"));
    const all = [1, 2].map(() => shared.join("a", never, failing));
    for (const each of await Promise.allSettled(all)) expect(each.status).toBe("rejected");
    expect(await shared.join("a", never, () => Promise.resolve("yes"))).toBe("yes");
  });
});
