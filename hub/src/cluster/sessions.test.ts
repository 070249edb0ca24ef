import { afterEach, describe, expect, it, vi } from "vitest";
import type { RoutedRequest } from "../mcp/session-routing.ts";
import type { ForwardOutcome } from "./peer-client.ts";
import type { FoundSession, Owner, SessionStore, StoredSession } from "./session-store.ts";
import { ClusterSessions } from "./sessions.ts";

const record = { id: "two-1", version: "2025-11-25", clientInfo: undefined, capabilities: {}, watched: [], stream: 0 };

const ofTwo: FoundSession = {
  id: "two-1",
  endpoint: "default",
  record: JSON.stringify(record),
  replica: "two",
  instance: "run of two",
  isAlive: true,
  peer: "http://two",
};

/** What decides is PostgreSQL, which test/cluster/ has: here, only what it was asked. */
class Store implements SessionStore {
  found: FoundSession | undefined;
  owned: string[] = [];
  isAway = false;
  readonly adoptions: Owner[] = [];
  readonly puts: string[][] = [];
  readonly removals: string[][] = [];

  constructor(found: FoundSession | undefined) {
    this.found = found;
  }

  async put(sessions: readonly StoredSession[]): Promise<void> {
    if (this.isAway) throw new Error("away");
    this.puts.push(sessions.map(({ id }) => id));
  }

  async remove(ids: readonly string[]): Promise<void> {
    this.removals.push([...ids]);
  }

  async find(): Promise<FoundSession | undefined> {
    return this.found;
  }

  async adopt(_id: string, from: Owner): Promise<boolean> {
    this.adoptions.push(from);
    return true;
  }

  async ownedBy(): Promise<string[]> {
    return this.owned;
  }

  async release(): Promise<void> {}

  async sweep(): Promise<void> {}
}

interface World {
  readonly sessions: ClusterSessions;
  readonly ended: string[];
  readonly lock: { isHeld: boolean };
  ask(owner?: string): Promise<string>;
}

function open(store: Store, forward: () => ForwardOutcome): World {
  const [ended, lock]: [string[], { isHeld: boolean }] = [[], { isHeld: true }];
  const sessions = new ClusterSessions({
    name: "one",
    store,
    forward: async () => forward(),
    isOwner: () => lock.isHeld,
    local: () => ({ hasSession: () => false, endSession: (id) => void ended.push(id), serve: () => undefined }),
  });
  const ask = (owner?: string) =>
    new Promise<string>((resolve) => {
      const requester = owner === undefined ? undefined : { principal: owner, owner, onceEnded: () => () => undefined };
      const request: RoutedRequest = {
        session: "two-1",
        address: { edge: "groups", group: "default", readOnly: false, exposure: undefined },
        endpoint: "default",
        request: { method: "POST", url: "/mcp", headers: {}, body: Buffer.from("{}") },
        response: {
          isOver: false,
          send: () => undefined,
          stream: () => expect.unreachable(),
          onceClosed: () => undefined,
        },
        requester,
        serve: () => resolve(sessions.records("default").find("two-1") === undefined ? "unknown" : "adopted"),
        fail: ({ kind }) => resolve(kind),
      };
      sessions.route(request);
    });
  return { sessions, ended, lock, ask };
}

afterEach(() => void vi.useRealTimers());

describe("SC-3 whose session it is", () => {
  it("nothing is adopted for another caller, or while PostgreSQL sees the owner", async () => {
    vi.useFakeTimers();
    const store = new Store(ofTwo);
    const sessions = open(store, () => "gone");
    expect(await sessions.ask("user:other")).toBe("unknown");
    // PostgreSQL still sees the owner: its request waits for 5 s.
    const refused = sessions.ask();
    await vi.advanceTimersByTimeAsync(5100);
    expect(await refused).toBe("HubUnavailable");
    expect(store.adoptions).toEqual([]);
  });

  it("an owner that refuses connections is gone as soon as its lock is free", async () => {
    const store = new Store({ ...ofTwo, isAlive: false });
    expect(await open(store, () => "gone").ask()).toBe("adopted");
    expect(store.adoptions).toMatchObject([{ replica: "two", instance: "run of two" }]);
  });

  it("an owner that has released its sessions is not asked", async () => {
    const store = new Store({ ...ofTwo, instance: "" });
    expect(await open(store, () => expect.unreachable()).ask()).toBe("adopted");
  });

  it("an owner that is only silent is gone when its lock has been free for 15 s", async () => {
    vi.useFakeTimers();
    const store = new Store({ ...ofTwo, isAlive: false });
    const sessions = open(store, () => "silent");
    for (let waitedMs = 0; waitedMs < 14_000; waitedMs += 5100) {
      const refused = sessions.ask();
      await vi.advanceTimersByTimeAsync(5100);
      if (waitedMs < 9000) expect(await refused).toBe("HubUnavailable");
    }
    expect(await sessions.ask()).toBe("adopted");
  });

  it("an owner that has no such session, although the row says so, makes it unknown", async () => {
    expect(await open(new Store(ofTwo), () => "elsewhere").ask()).toBe("unknown");
  });

  it("a hub that was without its lock ends what others have adopted, and writes what it could not", async () => {
    vi.useFakeTimers();
    const store = new Store(undefined);
    const { sessions, lock, ended } = open(store, () => "gone");
    const records = sessions.records("default");
    for (const id of ["one-1", "one-2"]) records.put({ ...record, id });
    await records.saved?.();
    expect(store.puts).toEqual([["one-1", "one-2"]]);
    [lock.isHeld, store.isAway] = [false, true];
    records.put({ ...record, id: "one-3" });
    await records.saved?.();
    await vi.advanceTimersByTimeAsync(2000);
    [lock.isHeld, store.isAway, store.owned] = [true, false, ["one-2", "one-3"]];
    await vi.advanceTimersByTimeAsync(2000);
    expect(ended).toEqual(["one-1"]);
    expect(store.puts[1]).toEqual(["one-3"]);
    records.remove("one-2");
    await records.saved?.();
    expect(store.removals).toEqual([["one-2"]]);
  });
});
