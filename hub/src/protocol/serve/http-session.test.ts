// Lifetime and number of sessions, with a fake clock. What clients see is in http-server.test.ts.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Cancellable } from "../../lib/cancellation.ts";
import { HttpSession, HttpSessions } from "./http-session.ts";

const HOUR = 60 * 60 * 1000;
const MINUTE = 60 * 1000;

let sessions: HttpSessions;
let ended: HttpSession[];

beforeEach(() => {
  vi.useFakeTimers();
  ended = [];
  sessions = new HttpSessions({ onEnd: (session) => void ended.push(session) });
});

afterEach(() => {
  sessions.close();
  expect(vi.getTimerCount(), "timers left running").toBe(0);
  vi.useRealTimers();
});

function make(name = "client"): HttpSession {
  return new HttpSession({ version: "2025-11-25", clientInfo: { name }, capabilities: {} });
}

function add(): HttpSession {
  const session = make();
  sessions.add(session);
  return session;
}

describe("HttpSessions", () => {
  it("CL-7 an unused session ends after an hour, a used one does not", () => {
    const [idle, used] = [add(), add()];
    vi.advanceTimersByTime(HOUR - MINUTE);
    expect(sessions.find(used.id)).toBe(used);
    vi.advanceTimersByTime(3 * MINUTE);
    expect(ended).toEqual([idle]);
    expect(sessions.find(idle.id)).toBeUndefined();
    expect(sessions.find(used.id)).toBe(used);
  });

  it("CL-7 a session with an open request does not expire", () => {
    const busy = add();
    busy.open.set(1, new Cancellable());
    vi.advanceTimersByTime(3 * HOUR);
    expect(ended).toEqual([]);
    busy.open.clear();
    vi.advanceTimersByTime(2 * MINUTE);
    expect(ended).toEqual([busy]);
  });

  it("T22 SE-5 at most a thousand: the oldest one that was never used after initialize is evicted", () => {
    const all = Array.from({ length: 1000 }, add);
    const [first, second, third] = all;
    sessions.find(first?.id ?? "");
    second?.open.set(1, new Cancellable());
    expect(ended).toEqual([]);
    expect(sessions.add(make())).toBe(true);
    expect(ended).toEqual([third]);
  });

  it("T22 SE-5 a used session is not evicted for another client, which is refused until one expires", () => {
    const all = Array.from({ length: 1000 }, add);
    for (const { id } of all) sessions.find(id);
    vi.advanceTimersByTime(HOUR - MINUTE);
    const [, ...others] = all;
    for (const { id } of others) sessions.find(id);
    expect(sessions.add(make("stranger"))).toBe(false);
    expect(ended).toEqual([]);
    vi.advanceTimersByTime(2 * MINUTE);
    expect(sessions.add(make("stranger"))).toBe(true);
    expect(ended).toEqual([all[0]]);
  });

  it("T22 SE-5 a client that abandons its sessions loses its own oldest ones", () => {
    const others = Array.from({ length: 400 }, () => make("other"));
    const own = Array.from({ length: 600 }, () => make("leaves"));
    for (const session of [...others, ...own]) {
      sessions.add(session);
      sessions.find(session.id);
    }
    expect(sessions.add(make("leaves"))).toBe(false); // all of them were in use a moment ago
    vi.advanceTimersByTime(2 * MINUTE);
    expect(sessions.add(make("other"))).toBe(false);
    expect(sessions.add(make("leaves"))).toBe(true);
    expect(ended).toEqual([own[0]]);
  });

  it("SE-5 a session with an open request is never evicted", () => {
    const all = Array.from({ length: 1000 }, add);
    for (const session of all) session.open.set(1, new Cancellable());
    expect(sessions.add(make())).toBe(false);
    expect(ended).toEqual([]);
  });

  it("CL-7 ending a session twice has no effect", () => {
    const session = add();
    sessions.end(session);
    sessions.end(session);
    expect(ended).toEqual([session]);
  });
});
