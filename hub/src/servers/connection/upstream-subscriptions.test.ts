// The subscription requests to a server, their order, and the recipients of updates: connections in memory, whose answers the
// test controls. Real connections are in test/mcp/subscriptions.test.ts.

import { describe, expect, it } from "vitest";
import type { Era } from "../../protocol/revisions/era.ts";
import { isObject } from "../../lib/json/json.ts";
import { failure, raw, rawParams, success, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { Source } from "./resource-subscription.ts";
import { UpstreamSubscriptions, WatchBudget } from "./upstream-subscriptions.ts";
import type { ForwardRequest } from "./upstream.ts";

interface Asked {
  readonly line: string;
  readonly ask: ForwardRequest;
  readonly answer: (reply?: Reply) => void;
}

/** A connection that records its requests. */
function connection(era: Era = "legacy", { subscribe = true } = {}) {
  const asked: Asked[] = [];
  const source: Source = {
    info: {
      era,
      version: "",
      capabilities: { resources: { subscribe } },
      serverInfo: undefined,
      instructions: undefined,
    },
    forward: (ask) =>
      new Promise((resolve) => {
        const { uri, notifications } = ask.params?.value ?? {};
        const uris = isObject(notifications) ? notifications["resourceSubscriptions"] : uri;
        const answer = (reply: Reply = success({})) => resolve(reply);
        asked.push({ line: `${ask.method} ${String(uris)}`, ask, answer });
        ask.signal?.addEventListener("abort", () => asked.push({ line: `closed ${String(uris)}`, ask, answer }));
      }),
  };
  const acknowledge = (at: number, uris: readonly string[]) =>
    asked[at]?.ask.onNotification?.(
      "notifications/subscriptions/acknowledged",
      raw({ notifications: { resourceSubscriptions: uris } }),
    );
  return { source, asked, acknowledge, lines: () => asked.map(({ line }) => line) };
}

function watcher() {
  const heard: unknown[] = [];
  return {
    heard,
    onUpdate: ({ value }: { value: { readonly [key: string]: unknown } }) => void heard.push(value["uri"]),
  };
}

const turn = () => new Promise(setImmediate);
const idle = () => undefined;

describe("a legacy server", () => {
  it("GR-7 subscribes once for simultaneous watchers, and unsubscribes after the subscription", async () => {
    const watches = new UpstreamSubscriptions();
    const { source, asked, lines } = connection();
    watches.attach(source, idle);
    const all = [watcher(), watcher(), watcher()].map(({ onUpdate }) => watches.add("a:1", onUpdate));
    const opened = all.map((watch) => watch.opened());
    await turn();
    all.forEach(({ release }) => release());
    const again = watches.add("a:1", watcher().onUpdate).opened();
    await turn();
    expect(lines()).toEqual(["resources/subscribe a:1"]);
    asked[0]?.answer();
    expect((await Promise.all(opened)).map(({ ok }) => ok)).toEqual([true, true, true]);
    await turn();
    // Requests are sequential: the new subscription follows the end of the old one.
    expect(lines()).toEqual(["resources/subscribe a:1", "resources/unsubscribe a:1"]);
    asked[1]?.answer();
    await turn();
    expect(lines()[2]).toBe("resources/subscribe a:1");
    asked[2]?.answer();
    expect((await again).ok).toBe(true);
  });

  it("LC-5 sends nothing after the connection is gone, neither pending subscriptions nor their ends", async () => {
    const watches = new UpstreamSubscriptions();
    const { source, asked, lines } = connection();
    watches.attach(source, idle);
    const [open, opening] = ["a:1", "a:2"].map((uri) => watches.add(uri, watcher().onUpdate));
    const opened = [open?.opened(), opening?.opened()];
    asked[0]?.answer();
    await opened[0];
    // In the same turn, because the connection may be closed at its end.
    open?.release();
    expect(lines()).toEqual(["resources/subscribe a:1", "resources/subscribe a:2", "resources/unsubscribe a:1"]);
    opening?.release();
    watches.detach(source);
    asked.forEach(({ answer }) => answer());
    await turn();
    expect(lines()).toHaveLength(3);
  });

  it("GR-7 a refused subscription is tried again for the next watcher", async () => {
    const watches = new UpstreamSubscriptions();
    const { source, asked, lines } = connection();
    watches.attach(source, idle);
    const first = watches.add("a:1", watcher().onUpdate);
    const refused = first.opened();
    await turn();
    asked[0]?.answer(failure({ code: 7, message: "no" }));
    expect((await refused).ok).toBe(false);
    first.release();
    const second = watches.add("a:1", watcher().onUpdate).opened();
    await turn();
    asked[1]?.answer();
    expect((await second).ok).toBe(true);
    expect(lines()).toEqual(["resources/subscribe a:1", "resources/subscribe a:1"]);
  });

  it("GR-7 LC-6 a new connection subscribes to everything again and notifies every watcher once, also if it refuses", async () => {
    const watches = new UpstreamSubscriptions();
    const [first, second] = [connection(), connection()];
    const [one, two] = [watcher(), watcher()];
    watches.attach(first.source, idle);
    const opened = [watches.add("a:1", one.onUpdate).opened(), watches.add("a:2", two.onUpdate).opened()];
    await turn();
    first.asked.forEach(({ answer }) => answer());
    await Promise.all(opened);
    watches.detach(first.source);
    watches.attach(second.source, idle);
    await turn();
    expect(second.lines()).toEqual(["resources/subscribe a:1", "resources/subscribe a:2"]);
    second.asked[0]?.answer();
    second.asked[1]?.answer(failure({ code: 7, message: "gone" }));
    await turn();
    expect([one.heard, two.heard]).toEqual([["a:1"], ["a:2"]]);
    // Updates of the old connection are ignored.
    watches.updated(first.source, rawParams({ uri: "a:1" }));
    expect(one.heard).toHaveLength(1);
    expect(first.lines()).toHaveLength(2);
  });

  it.each([
    ["a:dir", "a:dir/file", true],
    ["a:dir/", "a:dir/file", true],
    ["a:doc", "a:doc#part", true],
    ["a:doc", "a:document", false],
    ["a:doc/x", "a:doc", false],
  ])("GR-7 a watcher of %s gets updates of %s: %s", async (uri, changed, expected) => {
    const watches = new UpstreamSubscriptions();
    const { source } = connection();
    const { heard, onUpdate } = watcher();
    watches.attach(source, idle);
    watches.add(uri, onUpdate);
    watches.updated(source, rawParams({ uri: changed }));
    watches.updated(source, rawParams({ uri: 7 }));
    expect(heard).toEqual(expected ? [changed] : []);
  });

  it("GR-7 a server without subscriptions gets no request", async () => {
    const watches = new UpstreamSubscriptions();
    const { source, lines } = connection("legacy", { subscribe: false });
    watches.attach(source, idle);
    expect(await watches.add("a:1", watcher().onUpdate).opened()).toMatchObject({ ok: false });
    expect(lines()).toEqual([]);
  });
});

describe("a modern server", () => {
  it("GR-7 holds one stream for each resource, which ends with the last watcher", async () => {
    const watches = new UpstreamSubscriptions();
    const { source, lines, acknowledge } = connection("modern");
    watches.attach(source, idle);
    const all = ["a:1", "a:1", "a:2"].map((uri) => watches.add(uri, watcher().onUpdate));
    const opened = all.map((watch) => watch.opened());
    await turn();
    acknowledge(0, ["a:1"]);
    acknowledge(1, ["a:2"]);
    await Promise.all(opened);
    expect(lines()).toEqual(["subscriptions/listen a:1", "subscriptions/listen a:2"]);
    all[0]?.release();
    all[0]?.release();
    expect(lines()).toHaveLength(2);
    all[1]?.release();
    expect(lines().slice(2)).toEqual(["closed a:1"]);
  });

  it("GR-7 a server that acknowledges another resource has refused", async () => {
    const watches = new UpstreamSubscriptions();
    const { source, lines, acknowledge } = connection("modern");
    watches.attach(source, idle);
    const opened = watches.add("a:1", watcher().onUpdate).opened();
    await turn();
    acknowledge(0, []);
    expect(await opened).toMatchObject({ ok: false });
    expect(lines()).toEqual(["subscriptions/listen a:1", "closed a:1"]);
  });

  it("GR-7 a stream that ends is reopened, and the gap is reported", async () => {
    const watches = new UpstreamSubscriptions();
    const { source, asked, lines, acknowledge } = connection("modern");
    const { heard, onUpdate } = watcher();
    watches.attach(source, idle);
    const watch = watches.add("a:1", onUpdate);
    const opened = watch.opened();
    await turn();
    acknowledge(0, ["a:1"]);
    await opened;
    asked[0]?.answer();
    while (lines().length < 2) await turn();
    expect(heard).toEqual([]);
    acknowledge(1, ["a:1"]);
    expect(heard).toEqual(["a:1"]);
    watch.release();
    expect(lines().slice(0, 3)).toEqual(["subscriptions/listen a:1", "subscriptions/listen a:1", "closed a:1"]);
  });
});

describe("bounds", () => {
  it("SE-5 the budget holds over all servers, and released subscriptions can be used again", () => {
    const budget = new WatchBudget(2);
    const [one, two] = [new UpstreamSubscriptions(budget), new UpstreamSubscriptions(budget)];
    const first = one.add("a:1", idle);
    two.add("a:1", idle);
    expect(() => one.add("a:2", idle)).toThrow("too many");
    first.release();
    first.release();
    one.add("a:2", idle);
    expect(() => two.add("a:2", idle)).toThrow("too many");
    expect([one.size, two.size]).toEqual([1, 1]);
  });

  it("LC-2 reports when the last watcher is gone", () => {
    const watches = new UpstreamSubscriptions();
    let idled = 0;
    watches.attach(connection().source, () => void idled++);
    const [first, second] = [watches.add("a:1", idle), watches.add("a:2", idle)];
    first.release();
    expect(idled).toBe(0);
    second.release();
    expect(idled).toBe(1);
  });
});
