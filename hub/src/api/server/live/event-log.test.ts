import { describe, expect, it } from "vitest";
import { EventLog, type LiveEvent } from "./event-log.ts";

/** A log whose ids begin at 1. */
function logOf(size: number, events = 0): EventLog {
  const log = new EventLog({ size, now: () => 0 });
  for (let n = 1; n <= events; n++) log.append("warning", undefined, { n });
  return log;
}

const ALL = new Set(["warning", "server.log", "server.status"]);

const ids = (events: readonly LiveEvent[] | undefined) => events?.map(({ id }) => id);

describe("events after an id", () => {
  it.each<[number, number, number[] | undefined]>([
    [3, 0, [1, 2, 3]],
    [3, 2, [3]],
    [3, 3, []],
    [3, 4, undefined],
    [3, -1, undefined],
    [3, Number.NaN, undefined],
    [10, 5, [6, 7, 8, 9, 10]],
    [11, 6, [7, 8, 9, 10, 11]],
    [11, 5, undefined],
    [1000, 994, undefined],
    [1000, 995, [996, 997, 998, 999, 1000]],
  ])("of %d events, after %d: %j", (events, after, expected) => {
    expect(ids(logOf(5, events).after(after, ALL))).toEqual(expected);
  });
});

it("a frequent event does not evict events of other names", () => {
  const log = logOf(5);
  log.append("server.status", "a", { status: "error" });
  for (let n = 0; n < 100; n++) log.append("server.log", "b", { n });
  log.append("server.status", "a", { status: "running" });
  expect(ids(log.after(0, new Set(["server.status"])))).toEqual([1, 102]);
  expect(log.after(0, ALL)).toBeUndefined();
  expect(ids(log.after(97, ALL))).toEqual([98, 99, 100, 101, 102]);
});

it("an id of an earlier run of the hub is always too old", () => {
  const earlier = new EventLog({ now: () => 1_700_000_000_000 });
  for (let n = 0; n < 5000; n++) earlier.append("warning", undefined, {});
  const later = new EventLog({ now: () => 1_700_000_000_006 });
  later.append("warning", undefined, {});
  expect(later.after(earlier.last, ALL)).toBeUndefined();
  expect(Number.isSafeInteger(later.last)).toBe(true);
});

it("T41 an event is one frame, whatever its data contains", () => {
  const log = logOf(5);
  log.append("warning", undefined, { message: 'a\n\nid: 7\nevent: forged\ndata: {"x":1}\r\n\u2028' });
  const [event] = log.after(0, ALL) ?? [];
  expect(event?.frame().split(/\r\n|\r|\n/)).toEqual([
    "id: 1",
    "event: warning",
    expect.stringMatching(/^data: \{/),
    "",
    "",
  ]);
});

it("a follower gets new events until it stops", () => {
  const log = logOf(5, 1);
  const heard: number[] = [];
  const unfollow = log.follow(({ id }) => heard.push(id));
  log.append("warning", undefined, {});
  unfollow();
  log.append("warning", undefined, {});
  expect(heard).toEqual([2]);
});
