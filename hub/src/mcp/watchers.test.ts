// Who hears that lists changed, when, and how often: real snapshots of a catalog, a fake clock, clients in memory.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Catalog } from "../catalog/catalog.ts";
import type { Group } from "../catalog/group.ts";
import type { ServerConfig } from "../config/types.ts";
import { HubError } from "../errors.ts";
import { META } from "../wire/era.ts";
import { rawParams, type Id } from "../wire/jsonrpc.ts";
import type { Exchange, Session } from "../wire/server.ts";
import { Watchers } from "./watchers.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount(), "timers left running").toBe(0);
  vi.useRealTimers();
});

const SERVER: ServerConfig = {
  id: "s",
  name: "s",
  enabled: true,
  source: { type: "manual" },
  transport: { type: "http", url: "http://127.0.0.1:1/", headers: {} },
  env: {},
  timeouts: {},
  groups: [],
};

interface Offer {
  readonly tools?: readonly string[];
  readonly prompts?: readonly string[];
  readonly resources?: readonly string[];
  readonly templates?: readonly string[];
  readonly available?: boolean;
}

/** The group `default` of one server that offers this. */
function group({ tools = [], prompts = [], resources = [], templates = [], available = true }: Offer): Group {
  const listing = {
    tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })),
    prompts: prompts.map((name) => ({ name })),
    resources: resources.map((uri) => ({ uri, name: uri })),
    templates: templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
  };
  return Catalog.build({ servers: [SERVER], groups: [] }, new Map([["s", { listing, available }]])).group();
}

/** A legacy client, by what it heard. */
function session(): Session & { readonly heard: string[] } {
  const heard: string[] = [];
  return {
    id: "1",
    version: "2025-11-25",
    clientInfo: undefined,
    capabilities: {},
    logLevel: undefined,
    heard,
    notify: (method) => heard.push(method),
    ask: () => Promise.reject(new Error("nobody there")),
  };
}

/** A modern client's `subscriptions/listen`. */
function subscription(notifications: unknown, id: Id = "L1") {
  const heard: { method: string; params: unknown }[] = [];
  const client = new AbortController();
  const exchange: Exchange = {
    request: { kind: "request", id, method: "subscriptions/listen", params: rawParams({ notifications }) },
    era: "modern",
    transport: "http",
    session: undefined,
    capabilities: {},
    logLevel: undefined,
    headers: {},
    signal: client.signal,
    notify: (method, params) => heard.push({ method, params: params?.value }),
  };
  return { exchange, heard, client };
}

function watch(first: Offer) {
  let current = group(first);
  const watchers = new Watchers(() => current);
  return {
    watchers,
    /** A client asks for the lists. */
    serve: () => watchers.served(current),
    change: (offer: Offer) => {
      current = group(offer);
      watchers.changed();
    },
  };
}

const ALL = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
const [TOOLS, PROMPTS, RESOURCES] = ["tools", "prompts", "resources"].map(
  (kind) => `notifications/${kind}/list_changed`,
);

describe("list changes", () => {
  const before = { tools: ["a"], prompts: ["p"], resources: ["x:1"], templates: ["x:{id}"] };

  it.each([
    ["a new tool", { ...before, tools: ["a", "b"] }, [TOOLS]],
    ["a tool less", { ...before, tools: [] }, [TOOLS]],
    ["another order", { ...before, tools: ["b", "a"] }, [TOOLS]],
    ["a new prompt", { ...before, prompts: ["p", "q"] }, [PROMPTS]],
    ["a new resource", { ...before, resources: ["x:1", "x:2"] }, [RESOURCES]],
    ["a new template", { ...before, templates: [] }, [RESOURCES]],
    ["resource and template", { ...before, resources: [], templates: [] }, [RESOURCES]],
    ["a server that goes", { ...before, available: false }, [TOOLS, PROMPTS, RESOURCES]],
    ["a new snapshot of the same", { ...before }, []],
  ])("GR-8 clients of both eras hear of %s, each kind once", (_, after, expected) => {
    const { watchers, change } = watch(before);
    const legacy = session();
    const modern = subscription(ALL);
    watchers.add(legacy);
    void watchers.listen(modern.exchange);
    change(after);
    vi.advanceTimersByTime(100);
    expect(legacy.heard).toEqual(expected);
    expect(modern.heard.slice(1)).toEqual(
      expected.map((method) => ({ method, params: { _meta: { [META.subscriptionId]: "L1" } } })),
    );
  });

  it("GR-8 the changes of a short while are told together, and not later for being many", () => {
    const { watchers, change } = watch({ tools: [] });
    const legacy = session();
    watchers.add(legacy);
    for (let count = 1; count <= 10; count++) {
      change({ tools: Array.from({ length: count }, (_, index) => `t${index}`) });
      vi.advanceTimersByTime(10);
    }
    expect(legacy.heard).toEqual([TOOLS]);
    change({ tools: ["last"] });
    vi.advanceTimersByTime(99);
    expect(legacy.heard).toEqual([TOOLS]);
    vi.advanceTimersByTime(1);
    expect(legacy.heard).toEqual([TOOLS, TOOLS]);
  });

  it("GR-8 what has changed back by then is not told", () => {
    const { watchers, change } = watch({ tools: ["a"] });
    const legacy = session();
    watchers.add(legacy);
    change({ tools: [] });
    vi.advanceTimersByTime(50);
    change({ tools: ["a"] });
    vi.advanceTimersByTime(100);
    expect(legacy.heard).toEqual([]);
  });

  it("GR-8 what has changed back is told all the same if somebody was given what was there between", () => {
    const { watchers, change, serve } = watch({ tools: ["a"], prompts: ["p"] });
    const legacy = session();
    watchers.add(legacy);
    serve();
    change({ tools: [], prompts: ["p"] });
    serve();
    vi.advanceTimersByTime(50);
    change({ tools: ["a"], prompts: ["p"] });
    serve();
    vi.advanceTimersByTime(100);
    expect(legacy.heard).toEqual([TOOLS]);
    change({ tools: ["a"], prompts: ["p"] });
    vi.advanceTimersByTime(100);
    expect(legacy.heard).toEqual([TOOLS]);
  });

  it("GR-8 what was told last is what counts, not what was there at first", () => {
    const { watchers, change } = watch({ tools: ["a"] });
    const legacy = session();
    watchers.add(legacy);
    change({ tools: ["b"] });
    vi.advanceTimersByTime(100);
    change({ tools: ["a"] });
    vi.advanceTimersByTime(100);
    expect(legacy.heard).toEqual([TOOLS, TOOLS]);
  });

  it("GR-8 who has left hears nothing, who comes hears what is new from then on", () => {
    const { watchers, change } = watch({ tools: ["a"] });
    const [gone, stays] = [session(), session()];
    watchers.add(gone);
    watchers.add(stays);
    watchers.remove(gone);
    change({ tools: ["b"] });
    vi.advanceTimersByTime(100);
    expect([gone.heard, stays.heard]).toEqual([[], [TOOLS]]);
  });

  it("GR-8 of a group that the config has lost nothing is told, and when it is back, what differs", () => {
    let current: Group | undefined = group({ tools: ["a"] });
    const watchers = new Watchers(() => {
      if (current === undefined) throw new HubError("GroupNotFound", "Group not found");
      return current;
    });
    const legacy = session();
    watchers.add(legacy);
    current = undefined;
    watchers.changed();
    vi.advanceTimersByTime(100);
    expect(legacy.heard).toEqual([]);
    current = group({ tools: ["b"] });
    watchers.changed();
    vi.advanceTimersByTime(100);
    expect(legacy.heard).toEqual([TOOLS]);
  });

  it("LC-5 after the end nothing is told", () => {
    const { watchers, change } = watch({ tools: ["a"] });
    const legacy = session();
    watchers.add(legacy);
    change({ tools: [] });
    watchers.close();
    vi.advanceTimersByTime(1000);
    expect(legacy.heard).toEqual([]);
  });
});

describe("subscriptions/listen", () => {
  it.each([
    [ALL, ALL],
    [{ toolsListChanged: true, promptsListChanged: false }, { toolsListChanged: true }],
    [{ toolsListChanged: "yes", resourceSubscriptions: ["x:1"], unknown: true }, {}],
    [{}, {}],
    [undefined, {}],
    [[], {}],
  ])("GR-8 %j is acknowledged first, with what is honoured: %j", (asked, honoured) => {
    const { watchers } = watch({});
    const { exchange, heard } = subscription(asked, 7);
    void watchers.listen(exchange);
    expect(heard).toEqual([
      {
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: honoured, _meta: { [META.subscriptionId]: 7 } },
      },
    ]);
  });

  it("GR-8 each hears what it asked for, under its own id", () => {
    const { watchers, change } = watch({ tools: ["a"], prompts: ["p"] });
    const [tools, prompts] = [
      subscription({ toolsListChanged: true }, "t"),
      subscription({ promptsListChanged: true }, 2),
    ];
    void watchers.listen(tools.exchange);
    void watchers.listen(prompts.exchange);
    change({ tools: ["b"], prompts: ["q"] });
    vi.advanceTimersByTime(100);
    expect(tools.heard.slice(1)).toEqual([{ method: TOOLS, params: { _meta: { [META.subscriptionId]: "t" } } }]);
    expect(prompts.heard.slice(1)).toEqual([{ method: PROMPTS, params: { _meta: { [META.subscriptionId]: 2 } } }]);
  });

  it("GR-8 lasts until the client ends it, ends with a result, and then hears nothing", async () => {
    const { watchers, change } = watch({ tools: ["a"] });
    const { exchange, heard, client } = subscription(ALL);
    const ended = watchers.listen(exchange);
    client.abort();
    const reply = await ended;
    expect(reply.ok && reply.result.value).toEqual({ resultType: "complete", _meta: { [META.subscriptionId]: "L1" } });
    change({ tools: [] });
    vi.advanceTimersByTime(100);
    expect(heard).toHaveLength(1);
  });

  it("GR-8 a client that is gone already is not waited for", async () => {
    const { watchers } = watch({});
    const { exchange, client } = subscription(ALL);
    client.abort();
    expect((await watchers.listen(exchange)).ok).toBe(true);
  });
});
