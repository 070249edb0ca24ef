// The event log of sessions, and its eviction.

import { describe, expect, it } from "vitest";
import { EventLog, EventBuffer } from "./event-log.ts";

const said = (log: EventLog, stream: number) => log.after(stream, 0).map(({ sequence }) => sequence);

function fill(log: EventLog, stream: number, count: number, bytes = 10): void {
  for (let sequence = 1; sequence <= count; sequence++) log.add({ stream, sequence, message: Buffer.alloc(bytes) });
}

describe("EventLog", () => {
  it("CL-7 returns the events of one stream after an event, in order", () => {
    const log = new EventLog(new EventBuffer());
    for (const [stream, sequence] of [
      [1, 1],
      [2, 1],
      [1, 2],
      [1, 3],
    ] as const) {
      log.add({ stream, sequence, message: Buffer.from(`${stream}-${sequence}`) });
    }
    expect(log.after(1, 1).map(({ message }) => message.toString())).toEqual(["1-2", "1-3"]);
    expect(log.after(2, 1)).toEqual([]);
  });

  it("SE-5 a session keeps its newest 256 events", () => {
    const log = new EventLog(new EventBuffer());
    fill(log, 1, 300);
    expect(said(log, 1)).toEqual(Array.from({ length: 256 }, (_, index) => index + 45));
  });

  it("SE-5 all sessions share one buffer: the oldest event of any session is evicted", () => {
    const space = new EventBuffer(3 * 1256);
    const [one, other] = [new EventLog(space), new EventLog(space)];
    fill(one, 1, 2, 1000);
    fill(other, 1, 2, 1000);
    expect([said(one, 1), said(other, 1)]).toEqual([[2], [1, 2]]);
    fill(other, 2, 1, 10_000);
    expect([said(one, 1), said(other, 1), said(other, 2)]).toEqual([[], [], []]);
  });

  it("SE-5 a closed log frees its events, and keeps no more", () => {
    const space = new EventBuffer(2 * 1256);
    const [one, other] = [new EventLog(space), new EventLog(space)];
    fill(one, 1, 2, 1000);
    one.close();
    fill(other, 1, 2, 1000);
    fill(one, 1, 2, 1000);
    expect([said(one, 1), said(other, 1)]).toEqual([[], [1, 2]]);
  });

  it("SE-5 a small message is copied out of Node's shared pool", () => {
    const log = new EventLog(new EventBuffer());
    const shared = Buffer.from("small");
    log.add({ stream: 1, sequence: 1, message: shared });
    const [kept] = log.after(1, 0);
    expect([kept?.message.toString(), kept?.message.buffer.byteLength]).toEqual(["small", 5]);
  });
});
