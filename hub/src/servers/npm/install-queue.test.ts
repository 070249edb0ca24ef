import { expect, it, vi } from "vitest";
import { InstallQueue } from "./install-queue.ts";

const never = new AbortController().signal;

/** Work that ends when the test says so. */
function work() {
  let end!: () => void;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { end, run: vi.fn<() => Promise<void>>(() => done) };
}

it("runs a few installs at a time, in order, and reports the position of each", async () => {
  const queue = new InstallQueue({ atOnce: 2 });
  const works = ["a", "b", "c"].map((key) => ({ key, ...work() }));
  const stages: string[] = [];
  const unwatch = queue.watch("c", (stage) => stages.push(stage));
  const runs = works.map(({ key, run }) => queue.run(key, never, run));
  expect(works.map(({ run }) => run.mock.calls.length)).toEqual([1, 1, 0]);
  expect(works.map(({ key }) => queue.positionOf(key))).toEqual([1, 2, 3].map((position) => ({ position, total: 3 })));
  expect(stages).toEqual(["queued"]);
  works[1]?.end();
  await runs[1];
  await expect.poll(() => works[2]?.run).toHaveBeenCalled();
  expect(stages).toEqual(["queued", "installing"]);
  const late: string[] = [];
  queue.watch("c", (stage) => late.push(stage))();
  expect(late).toEqual(["installing"]);
  unwatch();
  for (const { end } of works) end();
  await Promise.all(runs);
  expect(queue.positionOf("c")).toBeUndefined();
});

it("a cancelled install leaves the queue, and a failed one does not block others", async () => {
  const queue = new InstallQueue({ atOnce: 1 });
  const first = work();
  const failing = queue.run("a", never, async () => {
    await first.run();
    throw new Error("no such package");
  });
  const abort = new AbortController();
  const left = queue.run("b", abort.signal, work().run);
  const next = work();
  const last = queue.run("c", never, next.run);
  abort.abort();
  await expect(left).rejects.toMatchObject({ kind: "Cancelled" });
  first.end();
  await expect(failing).rejects.toThrow("no such package");
  next.end();
  await last;
});

it("LC-7 an install that hangs blocks others only for a while", async () => {
  vi.useFakeTimers();
  try {
    const queue = new InstallQueue({ atOnce: 1, slowMs: 60_000 });
    const hung = work();
    const next = work();
    const runs = [queue.run("hung", never, hung.run), queue.run("next", never, next.run)];
    await vi.advanceTimersByTimeAsync(59_000);
    expect(next.run).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1000);
    expect(next.run).toHaveBeenCalled();
    // Its slot was released once, not twice.
    const third = work();
    runs.push(queue.run("third", never, third.run));
    hung.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(third.run).not.toHaveBeenCalled();
    next.end();
    third.end();
    await Promise.all(runs);
    expect(third.run).toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
  }
});
