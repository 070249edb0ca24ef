import { describe, expect, it } from "vitest";
import { SharedWork } from "./shared-work.ts";

const never = new AbortController().signal;

/** Work that ends when told, or when nobody waits. */
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

describe("shared work", () => {
  it("is done once for all who wait", async () => {
    const shared = new SharedWork<string>();
    const { begin, finish, counts } = work();
    const all = [1, 2, 3].map(() => shared.join("a", never, begin));
    await Promise.resolve();
    finish("done");
    expect(await Promise.all(all)).toEqual(["done", "done", "done"]);
    expect(counts()).toEqual({ begun: 1, ended: 0 });
  });

  it("goes on while somebody waits, and ends with the last", async () => {
    const shared = new SharedWork<string>();
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
    // Whoever gives up last has waited until nothing of it was left.
    expect(counts()).toEqual({ begun: 1, ended: 1 });
  });

  it("begins anew for one who comes while it ends", async () => {
    const shared = new SharedWork<string>();
    const { begin, finish, counts } = work();
    const abort = new AbortController();
    const left = shared.join("a", abort.signal, begin).catch(() => "gone");
    await Promise.resolve();
    abort.abort();
    // The one who left has not noticed yet, or has; either way the newcomer is not handed work that is ending.
    await new Promise((resolve) => setImmediate(resolve));
    const come = shared.join("a", never, begin);
    expect(await left).toBe("gone");
    await expect.poll(() => counts().begun).toBe(2);
    finish("done");
    expect(await come).toBe("done");
  });

  it("a failure is told to all, and the next one tries again", async () => {
    const shared = new SharedWork<string>();
    const failing = () => Promise.reject(new Error("no"));
    const all = [1, 2].map(() => shared.join("a", never, failing));
    for (const each of await Promise.allSettled(all)) expect(each.status).toBe("rejected");
    expect(await shared.join("a", never, () => Promise.resolve("yes"))).toBe("yes");
  });
});
