import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ChatStore, StoredChat } from "../model/store-port.ts";
import type { BackfilledPage, BackfillRequest, ChatSource, SourceState } from "../model/source.ts";
import type { Sources } from "../sources/sources.ts";
import { openStore } from "../store/store.ts";
import { History, type Coverage } from "./history.ts";
import { addSpan, afterPage, BEGINNING, newestWithin, splitAt, type Range } from "../model/unfetched.ts";

const HOUR = 3_600_000;
const at = (hour: number): number => Date.UTC(2024, 0, 1) + hour * HOUR;

describe("CH-12 unfetched spans", () => {
  const low = { from: BEGINNING, to: 10 };
  const high = { from: 20, to: 30, token: "t" };
  it.each<[range: Range, found: object | undefined]>([
    [{}, high],
    [{ since: 31 }, undefined],
    [{ since: 30 }, high],
    [{ before: 20 }, low],
    [{ since: 11, before: 20 }, undefined],
    [{ since: 5, before: 6 }, low],
  ])("the newest within %o", (range, found) => expect(newestWithin([low, high], range)).toEqual(found));

  it.each([
    [
      "splits, and keeps the token above",
      splitAt([high], high, 25),
      [
        { from: 20, to: 25 },
        { ...high, from: 25 },
      ],
    ],
    ["does not split beyond its end", splitAt([high], high, 30), [high]],
    [
      "a page makes it shorter",
      afterPage([low, high], 30, { exhausted: false, reachedAt: 25, token: "u" }),
      [low, { from: 20, to: 25, token: "u" }],
    ],
    [
      "a page that reaches what is stored closes it",
      afterPage([low, high], 30, { exhausted: false, reachedAt: 19 }),
      [low],
    ],
    [
      "a page without events moves the token only",
      afterPage([high], 30, { exhausted: false, token: "u" }),
      [{ ...high, token: "u" }],
    ],
    ["the end of the history closes all that is older", afterPage([low, high], 30, { exhausted: true }), []],
    ["the end of the history leaves what is newer", afterPage([low, high], 10, { exhausted: true }), [high]],
    [
      "a sync's span takes the place of those it covers",
      addSpan([low, high], { from: 15, to: 40, token: "n" }),
      [low, { from: 15, to: 40, token: "n" }],
    ],
    ["a sync that left nothing out adds nothing", addSpan([low], { from: 15, to: 14 }), [low]],
  ])("%s", (_, spans, expected) => expect(spans).toEqual(expected));
});

/** A chat with a message each hour, on a network that counts its requests. */
class Network {
  readonly asked: BackfillRequest[] = [];
  state: SourceState = { status: "connected" };
  looksUpTimes = true;
  failure: Error | undefined;
  gate: Promise<void> = Promise.resolve();
  readonly #hours: number;
  readonly #store: ChatStore;

  constructor(store: ChatStore, hours: number) {
    this.#store = store;
    this.#hours = hours;
  }

  get source(): ChatSource {
    return {
      id: "net",
      kind: "test",
      name: "Net",
      capabilities: { history: "window", stream: true, backfill: true, send: false, changes: [] },
      run: async () => undefined,
      backfill: (request) => this.#backfill(request),
    };
  }

  sync(from: number, to: number): void {
    this.#store.apply("net", [{ type: "chat", chat: { id: "c", name: "Club" } }, ...this.#events(from, to)]);
  }

  async #backfill(request: BackfillRequest): Promise<BackfilledPage> {
    this.asked.push(request);
    await this.gate;
    if (this.failure !== undefined) throw this.failure;
    const { token, message, before, limit } = request;
    if (token === undefined && message === undefined && before !== undefined && !this.looksUpTimes)
      return { status: "no_time_lookup" };
    const mark = token ?? message;
    const end =
      mark === undefined
        ? Math.min(this.#hours, before === undefined ? Infinity : Math.ceil((before - at(0)) / HOUR))
        : Number(mark);
    const start = Math.max(0, end - limit);
    this.#store.apply("net", this.#events(start, end));
    if (start >= end) return { status: "page", exhausted: true };
    return { status: "page", exhausted: start === 0, reachedAt: at(start), token: String(start) };
  }

  #events(from: number, to: number) {
    return Array.from({ length: Math.max(0, to - from) }, (_, index) => {
      const id = String(from + index);
      const message = { id, chat: "c", at: at(from + index), kind: "text", content: id } as const;
      return { type: "message", origin: "backfill", message } as const;
    });
  }
}

describe("CH-12 history", () => {
  let store: ChatStore;
  let network: Network;
  let history: History;
  let isRunning: boolean;
  const open: History[] = [];
  const openHistory = (runs: () => boolean, limits = { pages: 50, ms: 20_000 }): History => {
    const { source } = network;
    const sources = {
      get: () => ({ source }),
      ids: ["net"],
      state: () => network.state,
      get isRunning() {
        return runs();
      },
    } as unknown as Sources;
    const opened = new History({ store, sources, now: Date.now, log: () => undefined, limits });
    opened.start();
    open.push(opened);
    return opened;
  };
  beforeEach(async () => {
    store = await openStore(":memory:");
    network = new Network(store, 1000);
    isRunning = true;
    history = openHistory(() => isRunning);
    network.sync(950, 1000);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
    await store.close();
  });
  const chat = (): StoredChat => store.findChats("net", "c")[0] as StoredChat;
  const hours = (): number[] =>
    store
      .messages({ chats: [chat().key], includeSystem: true, order: "asc", limit: 2000 })
      .items.map(({ id }) => Number(id));
  const fill = (range: Range, asking: Partial<Parameters<History["fill"]>[2]> = {}): Promise<Coverage> =>
    history.fill(chat(), () => range, { signal: new AbortController().signal, ...asking });

  it("fetches in order down to the requested time, reports each page, and fetches nothing twice", async () => {
    const told: unknown[] = [];
    expect(await fill({ since: at(700) }, { onPage: (page) => told.push(page) })).toEqual({ status: "complete" });
    expect(hours()).toEqual(Array.from({ length: 350 }, (_, index) => 650 + index));
    expect(told).toEqual([850, 750, 650].map((hour, index) => ({ pages: index + 1, reachedAt: at(hour) })));
    await fill({ since: at(700) });
    expect(network.asked.map(({ message, token }) => message ?? token)).toEqual(["950", "850", "750"]);
  });

  it("jumps to an earlier time, and fills the skipped part when it is requested", async () => {
    await fill({ since: at(90), before: at(100) });
    expect(network.asked).toHaveLength(1);
    expect(hours()).toEqual([...Array.from({ length: 100 }, (_, index) => index), ...hours().slice(-50)]);
    await fill({ since: at(50) });
    expect(hours()).toEqual(Array.from({ length: 1000 }, (_, index) => index));
    network.asked.length = 0;
    expect(await fill({})).toEqual({ status: "complete" });
    expect(network.asked).toEqual([]);
  });

  it("fetches in order if the network cannot look up a time", async () => {
    network.looksUpTimes = false;
    expect(await fill({ since: at(690), before: at(700) })).toEqual({ status: "complete" });
    expect(hours()).toEqual(Array.from({ length: 350 }, (_, index) => 650 + index));
    expect(store.unfetched(chat().key)).toEqual([{ from: BEGINNING, to: at(650), token: "650" }]);
  });

  it("fetches exactly the range that a sync skipped, by its token", async () => {
    store.apply("net", [{ type: "unfetched", chat: "c", to: at(1500), token: "1500" }]);
    network.sync(1500, 1510);
    await fill({ since: at(1000) });
    expect(hours()).toEqual(Array.from({ length: 610 }, (_, index) => 900 + index));
    expect(network.asked.every(({ token }) => token !== undefined)).toBe(true);
    expect(store.unfetched(chat().key)).toEqual([{ from: BEGINNING, to: at(950) }]);
  });

  it("fetches one page at a time for each chat, for any number of callers", async () => {
    await Promise.all(Array.from({ length: 20 }, () => fill({ since: at(800) })));
    expect(network.asked).toHaveLength(2);
  });

  it("stops at its limits, and continues with the next request", async () => {
    history = openHistory(() => true, { pages: 2, ms: 20_000 });
    expect(await fill({ since: at(500) })).toMatchObject({ status: "more", missing: { to: at(750) } });
    expect(await fill({ since: at(500) })).toMatchObject({ status: "more", missing: { to: at(550) } });
    expect(await fill({ since: at(500) })).toEqual({ status: "complete" });
    let release = (): void => undefined;
    network.gate = new Promise((resolve) => (release = resolve));
    history = openHistory(() => true, { pages: 2, ms: 20 });
    expect(await fill({ since: at(300) })).toMatchObject({ status: "more" });
    release();
  });

  it("reports why it failed, and does not use a source that is not connected", async () => {
    network.failure = new Error("secret details");
    expect(await fill({ since: at(800) })).toEqual({
      status: "failed",
      missing: { from: BEGINNING, to: at(950) },
      message: "The connection failed (Error)",
    });
    network.failure = undefined;
    network.state = { status: "disconnected", message: "Cable cut", howToConnect: "" };
    expect(await fill({ since: at(800) })).toMatchObject({ status: "failed", message: "Cable cut" });
    expect(network.asked).toHaveLength(1);
  });

  it("ends when the caller leaves, and still stores the page in flight", async () => {
    let release = (): void => undefined;
    network.gate = new Promise((resolve) => (release = resolve));
    const asker = new AbortController();
    const filled = fill({ since: at(900) }, { signal: asker.signal });
    asker.abort();
    expect(await filled).toMatchObject({ status: "more" });
    release();
    expect(await fill({ since: at(900) })).toEqual({ status: "complete" });
    expect(network.asked).toHaveLength(1);
  });

  it("requests the page from the process that runs the sources", async () => {
    const reading = openHistory(() => false);
    const { signal } = new AbortController();
    expect(await reading.fill(chat(), () => ({ since: at(800) }), { signal })).toEqual({ status: "complete" });
    expect(hours()[0]).toBe(750);
    network.failure = new Error("no");
    expect(await reading.fill(chat(), () => ({ since: at(10) }), { signal })).toMatchObject({ status: "failed" });
    isRunning = false;
    const impatient = openHistory(() => false, { pages: 50, ms: 300 });
    expect((await impatient.fill(chat(), () => ({ since: at(10) }), { signal })).status).not.toBe("complete");
  });
});
