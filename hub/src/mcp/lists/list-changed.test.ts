// list_changed notifications: who gets them, when, and how often. Real catalog snapshots, fake clock, clients in memory.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Catalog } from "../../catalog/catalog.ts";
import type { Group } from "../../catalog/group.ts";
import type { ServerConfig } from "../../config/schema/types.ts";
import { HubError } from "../../errors.ts";
import { META } from "../../protocol/revisions/era.ts";
import { rawParams, type Id } from "../../protocol/rpc/jsonrpc.ts";
import { SessionUsage } from "../../protocol/serve/session-init.ts";
import type { IncomingRequest, Session } from "../../protocol/serve/service.ts";
import { ListChangedNotifier } from "./list-changed.ts";

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

/** The group `default` with one server of these lists. */
function group({ tools = [], prompts = [], resources = [], templates = [], available = true }: Offer): Group {
  const listing = {
    tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })),
    prompts: prompts.map((name) => ({ name })),
    resources: resources.map((uri) => ({ uri, name: uri })),
    templates: templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
  };
  return Catalog.build({ servers: [SERVER], groups: [] }, new Map([["s", { listing, available }]])).group();
}

/** A legacy client that records its notifications. */
function session(): Session & { readonly received: string[] } {
  const received: string[] = [];
  return {
    id: "1",
    publicId: "public",
    usage: new SessionUsage(),
    version: "2025-11-25",
    clientInfo: undefined,
    capabilities: {},
    logLevel: undefined,
    received,
    notify: (method) => received.push(method),
    ask: () => Promise.reject(new Error("nobody there")),
  };
}

/** A modern client's `subscriptions/listen`. */
function subscription(notifications: unknown, id: Id = "L1") {
  const received: { method: string; params: unknown }[] = [];
  const client = new AbortController();
  const incoming: IncomingRequest = {
    request: { kind: "request", id, method: "subscriptions/listen", params: rawParams({ notifications }) },
    era: "modern",
    transport: "http",
    session: undefined,
    capabilities: {},
    logLevel: undefined,
    headers: {},
    signal: client.signal,
    notify: (method, params) => received.push({ method, params: params?.value }),
  };
  return { incoming, received, client };
}

function watch(first: Offer) {
  let current = group(first);
  const watchers = new ListChangedNotifier(() => current);
  return {
    watchers,
    /** A client asks for the lists. */
    serve: () => watchers.listServed(current),
    change: (offer: Offer) => {
      current = group(offer);
      watchers.catalogChanged();
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
  ])("GR-8 clients of both eras are notified of %s, once for each kind", (_, after, expected) => {
    const { watchers, change } = watch(before);
    const legacy = session();
    const modern = subscription(ALL);
    watchers.add(legacy);
    void watchers.listen(modern.incoming);
    change(after);
    vi.advanceTimersByTime(100);
    expect(legacy.received).toEqual(expected);
    expect(modern.received.slice(1)).toEqual(
      expected.map((method) => ({ method, params: { _meta: { [META.subscriptionId]: "L1" } } })),
    );
  });

  it("GR-8 changes are debounced; many changes do not delay the notification", () => {
    const { watchers, change } = watch({ tools: [] });
    const legacy = session();
    watchers.add(legacy);
    for (let count = 1; count <= 10; count++) {
      change({ tools: Array.from({ length: count }, (_, index) => `t${index}`) });
      vi.advanceTimersByTime(10);
    }
    expect(legacy.received).toEqual([TOOLS]);
    change({ tools: ["last"] });
    vi.advanceTimersByTime(99);
    expect(legacy.received).toEqual([TOOLS]);
    vi.advanceTimersByTime(1);
    expect(legacy.received).toEqual([TOOLS, TOOLS]);
  });

  it("GR-8 a change that is reverted in time is not announced", () => {
    const { watchers, change } = watch({ tools: ["a"] });
    const legacy = session();
    watchers.add(legacy);
    change({ tools: [] });
    vi.advanceTimersByTime(50);
    change({ tools: ["a"] });
    vi.advanceTimersByTime(100);
    expect(legacy.received).toEqual([]);
  });

  it("GR-8 a reverted change is announced if the lists were served in between", () => {
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
    expect(legacy.received).toEqual([TOOLS]);
    change({ tools: ["a"], prompts: ["p"] });
    vi.advanceTimersByTime(100);
    expect(legacy.received).toEqual([TOOLS]);
  });

  it("GR-8 lists are compared with the last announced ones, not with the first", () => {
    const { watchers, change } = watch({ tools: ["a"] });
    const legacy = session();
    watchers.add(legacy);
    change({ tools: ["b"] });
    vi.advanceTimersByTime(100);
    change({ tools: ["a"] });
    vi.advanceTimersByTime(100);
    expect(legacy.received).toEqual([TOOLS, TOOLS]);
  });

  it("GR-8 ended sessions get nothing, new sessions get later changes", () => {
    const { watchers, change } = watch({ tools: ["a"] });
    const [gone, stays] = [session(), session()];
    watchers.add(gone);
    watchers.add(stays);
    watchers.remove(gone);
    change({ tools: ["b"] });
    vi.advanceTimersByTime(100);
    expect([gone.received, stays.received]).toEqual([[], [TOOLS]]);
  });

  it("GR-8 a removed group announces nothing; when it is added again, it announces the differences", () => {
    let current: Group | undefined = group({ tools: ["a"] });
    const watchers = new ListChangedNotifier(() => {
      if (current === undefined) throw new HubError("GroupNotFound", "Group not found");
      return current;
    });
    const legacy = session();
    watchers.add(legacy);
    current = undefined;
    watchers.catalogChanged();
    vi.advanceTimersByTime(100);
    expect(legacy.received).toEqual([]);
    current = group({ tools: ["b"] });
    watchers.catalogChanged();
    vi.advanceTimersByTime(100);
    expect(legacy.received).toEqual([TOOLS]);
  });

  it("LC-5 nothing is announced after close()", () => {
    const { watchers, change } = watch({ tools: ["a"] });
    const legacy = session();
    watchers.add(legacy);
    change({ tools: [] });
    watchers.close();
    vi.advanceTimersByTime(1000);
    expect(legacy.received).toEqual([]);
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
  ])("GR-8 %j is acknowledged first, with what is granted: %j", (asked, honoured) => {
    const { watchers } = watch({});
    const { incoming, received } = subscription(asked, 7);
    void watchers.listen(incoming);
    expect(received).toEqual([
      {
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: honoured, _meta: { [META.subscriptionId]: 7 } },
      },
    ]);
  });

  it("GR-8 each subscription gets what it asked for, with its own id", () => {
    const { watchers, change } = watch({ tools: ["a"], prompts: ["p"] });
    const [tools, prompts] = [
      subscription({ toolsListChanged: true }, "t"),
      subscription({ promptsListChanged: true }, 2),
    ];
    void watchers.listen(tools.incoming);
    void watchers.listen(prompts.incoming);
    change({ tools: ["b"], prompts: ["q"] });
    vi.advanceTimersByTime(100);
    expect(tools.received.slice(1)).toEqual([{ method: TOOLS, params: { _meta: { [META.subscriptionId]: "t" } } }]);
    expect(prompts.received.slice(1)).toEqual([{ method: PROMPTS, params: { _meta: { [META.subscriptionId]: 2 } } }]);
  });

  it("GR-8 lasts until the client ends it, ends with a result, and then gets nothing", async () => {
    const { watchers, change } = watch({ tools: ["a"] });
    const { incoming, received, client } = subscription(ALL);
    const ended = watchers.listen(incoming);
    client.abort();
    const reply = await ended;
    expect(reply.ok && reply.result.value).toEqual({ resultType: "complete", _meta: { [META.subscriptionId]: "L1" } });
    change({ tools: [] });
    vi.advanceTimersByTime(100);
    expect(received).toHaveLength(1);
  });

  it("GR-8 ends at once for a client that has disconnected already", async () => {
    const { watchers } = watch({});
    const { incoming, client } = subscription(ALL);
    client.abort();
    expect((await watchers.listen(incoming)).ok).toBe(true);
  });
});
