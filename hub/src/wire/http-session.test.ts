// How long sessions live and how many there are, on a fake clock. What clients see of it is in http-server.test.ts.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Cancellable } from "./cancellation.ts";
import { HttpSession, HttpSessions } from "./http-session.ts";

const HOUR = 60 * 60 * 1000;
const MINUTE = 60 * 1000;

let sessions: HttpSessions;
let ended: HttpSession[];

beforeEach(() => {
  vi.useFakeTimers();
  ended = [];
  sessions = new HttpSessions((session) => ended.push(session));
});

afterEach(() => {
  sessions.close();
  expect(vi.getTimerCount(), "timers left running").toBe(0);
  vi.useRealTimers();
});

function add(): HttpSession {
  const session = new HttpSession({ version: "2025-11-25", clientInfo: undefined, capabilities: {} });
  sessions.add(session);
  return session;
}

describe("HttpSessions", () => {
  it("CL-7 a session that nobody uses ends after an hour, one that is used does not", () => {
    const [idle, used] = [add(), add()];
    vi.advanceTimersByTime(HOUR - MINUTE);
    expect(sessions.find(used.id)).toBe(used);
    vi.advanceTimersByTime(3 * MINUTE);
    expect(ended).toEqual([idle]);
    expect(sessions.find(idle.id)).toBeUndefined();
    expect(sessions.find(used.id)).toBe(used);
  });

  it("CL-7 a session with an open request does not end by age", () => {
    const busy = add();
    busy.open.set(1, new Cancellable());
    vi.advanceTimersByTime(3 * HOUR);
    expect(ended).toEqual([]);
    busy.open.clear();
    vi.advanceTimersByTime(2 * MINUTE);
    expect(ended).toEqual([busy]);
  });

  it("SE-5 there are a thousand at most: the one that was used longest ago makes room", () => {
    const all = Array.from({ length: 1000 }, add);
    const [first, second, third] = all;
    sessions.find(first?.id ?? "");
    second?.open.set(1, new Cancellable());
    expect(ended).toEqual([]);
    add();
    expect(ended).toEqual([third]);
  });

  it("SE-5 even where all are busy, and then its requests hear of it", () => {
    const all = Array.from({ length: 1000 }, add);
    for (const session of all) session.open.set(1, new Cancellable());
    add();
    expect(ended).toEqual([all[0]]);
    expect(all[0]?.open.get(1)?.aborted).toBe(true);
  });

  it("CL-7 ending twice is ending once", () => {
    const session = add();
    sessions.end(session);
    sessions.end(session);
    expect(ended).toEqual([session]);
  });
});
