// Resource subscriptions through the built hub: both eras on both sides, with the official SDKs as servers and clients. The servers
// count the requests that they get.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fixture, makeHome, startHub, type Home, type Servers } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { startRemote } from "../support/remote.ts";
import { answerOf, connect, modern } from "../support/rpc.ts";
import { openStream } from "../support/streams.ts";
import { legacyWatcher, modernWatcher, type Watcher } from "../support/watchers.ts";

const cleanups: (() => unknown)[] = [];
const endings: (() => unknown)[] = [];
const endAll = async (all: (() => unknown)[]) => {
  for (const cleanup of all.splice(0).toReversed()) await cleanup();
};
afterEach(() => endAll(cleanups));
afterAll(() => endAll(endings));

interface Started {
  readonly entry: Servers[string];
  /** Restarts it if it does not restart by itself. */
  readonly again?: () => Promise<void>;
}

/** Each era, over stdio and over HTTP. */
const SERVERS: [name: string, start: () => Promise<Started>][] = [
  ["a legacy stdio server", async () => ({ entry: fixture("watched", "legacy") })],
  ["a modern stdio server", async () => ({ entry: fixture("watched", "modern") })],
  ["a legacy HTTP server", () => remote("legacy")],
  ["a modern HTTP server", () => remote("modern")],
];

const CLIENTS: [name: string, open: (url: string) => Promise<Watcher>][] = [
  ["a legacy client", legacyWatcher],
  ["a modern client", modernWatcher],
];

async function remote(era: string): Promise<Required<Started>> {
  const args = [era, "--http"];
  const started = await startRemote("watched", args);
  endings.push(started.stop);
  const again = async () => {
    await started.stop();
    endings.push((await startRemote("watched", args, started.port)).stop);
  };
  return { entry: started.entry, again };
}

/** A hub for one test, or for all. */
async function start(servers: Servers, groups?: unknown, until = cleanups): Promise<{ home: Home; url: string }> {
  const home = await makeHome(servers, groups);
  const hub = await startHub(home);
  until.push(async () => {
    await hub.stop();
    expect(processesWithMark(home.mark)).toEqual([]);
    await home.remove();
  });
  return { home, url: `${hub.url}/mcp` };
}

async function client(open: (url: string) => Promise<Watcher>, url: string): Promise<Watcher> {
  const watcher = await open(url);
  cleanups.push(() => watcher.close().catch(() => undefined)); // closed by the test already
  return watcher;
}

/** The requests that the server got about some resources, once there are this many. */
async function untilAsked(caller: Watcher, expected: readonly string[]): Promise<void> {
  const uris = new Set(expected.map((line) => line.split(" ")[1]));
  for (;;) {
    const log: string[] = JSON.parse(await caller.call("log"));
    const relevant = log.filter((line) => uris.has(line.split(" ")[1]));
    if (relevant.length >= expected.length) return expect(relevant).toEqual(expected);
  }
}

describe.each(SERVERS)("%s", (_, startServer) => {
  let url: string;
  let again: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    const server = await startServer();
    again = server.again;
    ({ url } = await start({ it: server.entry }, { work: { servers: ["it"] } }, endings));
  });

  it.each(CLIENTS)("GR-7 %s gets one update for each change of its resources, and no other", async (name, open) => {
    const who = name.replaceAll(" ", "-");
    const [mine, theirs] = [`watched:item/mine-${who}`, `watched:item/theirs-${who}`];
    const [watcher, other] = [await client(open, url), await client(open, url)];
    expect(await watcher.watch(mine)).toEqual([mine]);
    expect(await other.watch("watched:two", theirs)).toEqual(["watched:two", theirs]);
    for (let count = 1; count <= 3; count++) {
      await other.call("touch", { uri: mine });
      expect(await watcher.nth(count)).toBe(mine);
    }
    await other.call("touch", { uri: theirs });
    expect(await other.nth(1)).toBe(theirs);
    expect(watcher.heard).toEqual([mine, mine, mine]);
    await watcher.unwatch(mine);
    await untilAsked(other, [`subscribe ${mine}`, `unsubscribe ${mine}`]);
    await other.call("touch", { uri: mine });
    await other.call("touch", { uri: "watched:two" });
    expect(await other.nth(2)).toBe("watched:two");
    expect(watcher.heard).toHaveLength(3);
  });

  it("GR-7 is subscribed once for many clients of several groups, until the last one unsubscribes", async () => {
    const watchers = await Promise.all([
      client(legacyWatcher, url),
      client(legacyWatcher, `${url}/work`),
      client(modernWatcher, url),
      client(modernWatcher, `${url}/work`),
    ]);
    await Promise.all(watchers.map((watcher) => watcher.watch("watched:one")));
    const caller = await client(legacyWatcher, url);
    await untilAsked(caller, ["subscribe watched:one"]);
    await caller.call("touch", { uri: "watched:one" });
    expect(await Promise.all(watchers.map((watcher) => watcher.nth(1)))).toEqual(watchers.map(() => "watched:one"));
    // By ending the session, by unsubscribing, by closing the stream.
    const [first, second, third, fourth] = watchers;
    await first?.close();
    await second?.unwatch("watched:one");
    await third?.close();
    await caller.call("touch", { uri: "watched:one" });
    expect(await fourth?.nth(2)).toBe("watched:one");
    await untilAsked(caller, ["subscribe watched:one"]);
    await fourth?.close();
    await untilAsked(caller, ["subscribe watched:one", "unsubscribe watched:one"]);
    expect(watchers.map(({ heard }) => heard.length)).toEqual([1, 1, 1, 2]);
    // And again from the start.
    await caller.watch("watched:one");
    await caller.call("touch", { uri: "watched:one" });
    expect(await caller.nth(1)).toBe("watched:one");
  });

  it("GR-7 LC-6 is subscribed again after a crash, and each client gets one update", async () => {
    const watchers = await Promise.all([client(legacyWatcher, url), client(modernWatcher, url)]);
    for (const watcher of watchers) await watcher.watch("watched:item/1");
    const caller = await client(legacyWatcher, url);
    await caller.call("crash").catch(() => undefined);
    await again?.();
    // Also detects that a session was forgotten.
    await caller.call("touch", { uri: "nobody:watches" });
    for (let count = 1; count <= 3; count++) {
      await Promise.all(watchers.map((watcher) => watcher.nth(count)));
      await caller.call("touch", { uri: "watched:item/1" });
    }
    await Promise.all(watchers.map((watcher) => watcher.nth(4)));
    expect(watchers.map(({ heard }) => heard)).toEqual(watchers.map(() => Array(4).fill("watched:item/1")));
    await untilAsked(caller, ["subscribe watched:item/1"]);
  });
});

describe("URIs that two servers share", () => {
  it.each(CLIENTS)("GR-6 GR-7 %s gets updates of each under the exposed URI", async (_, open) => {
    const { url } = await start({
      first: fixture("watched", "legacy"),
      second: fixture("watched", "modern"),
    });
    const watcher = await client(open, url);
    const [one, item] = ["plugboard://second/watched:one", "plugboard://second/watched:item/1"];
    expect(await watcher.watch("watched:one", one, item)).toEqual(["watched:one", one, item]);
    await watcher.call("first__touch", { uri: "watched:one" });
    expect(await watcher.nth(1)).toBe("watched:one");
    await watcher.call("second__touch", { uri: "watched:one" });
    expect(await watcher.nth(2)).toBe(one);
    await watcher.call("second__touch", { uri: "watched:item/1" });
    expect(await watcher.nth(3)).toBe(item);
    expect(watcher.heard).toHaveLength(3);
  });
});

describe("a group that changes", () => {
  it.each(CLIENTS)("GR-8 %s gets no updates of a server that left the group, until it is back", async (_, open) => {
    const { url, home } = await start({ it: fixture("watched", "legacy") }, { work: { servers: ["it"] } });
    const write = (servers: string[]) =>
      writeFile(join(home.dir, "config/group.json"), JSON.stringify({ work: { servers } }));
    const [watcher, caller] = [await client(open, `${url}/work`), await client(legacyWatcher, url)];
    await watcher.watch("watched:one");
    await write([]);
    await untilAsked(caller, ["subscribe watched:one", "unsubscribe watched:one"]);
    await caller.call("touch", { uri: "watched:one" });
    await write(["it"]);
    expect(await watcher.nth(1)).toBe("watched:one");
    await caller.call("touch", { uri: "watched:one" });
    expect(await watcher.nth(2)).toBe("watched:one");
    await untilAsked(caller, ["subscribe watched:one", "unsubscribe watched:one", "subscribe watched:one"]);
    expect(watcher.heard).toHaveLength(2);
  });
});

describe("resources without subscriptions", () => {
  it("GR-7 are an error for a legacy client, and omitted for a modern one", async () => {
    const { url } = await start({
      it: fixture("watched", "legacy"),
      // Has resources without subscriptions.
      plain: fixture("echo"),
    });
    const { request, hello } = await connect(url);
    expect(hello.result.capabilities.resources).toEqual({ listChanged: true, subscribe: true });
    expect((await request("resources/subscribe", { uri: "nobody:1" })).error).toMatchObject({
      code: -32002,
      message: expect.stringMatching(/^Resource not found \(.*"nobody:1"\)/),
    });
    expect((await request("resources/subscribe", { uri: "test://static" })).error).toMatchObject({ code: -32601 });
    // The server's own error, unchanged.
    const refused = await request("resources/subscribe", { uri: "watched:item/refused" });
    expect(refused.error).toMatchObject({ code: -32002, data: { uri: "watched:item/refused" } });
    expect((await request("resources/subscribe", {})).error).toMatchObject({ code: -32602 });
    expect((await request("resources/unsubscribe", { uri: "watched:one" })).result).toEqual({});
    const watcher = await client(modernWatcher, url);
    const uris = ["nobody:1", "test://static", "watched:item/refused", "watched:two"];
    expect(await watcher.watch(...uris)).toEqual(["watched:two"]);
  });

  it("GR-7 are not announced if no server supports subscriptions", async () => {
    const { url } = await start({ plain: fixture("echo") });
    const { hello } = await connect(url);
    expect(hello.result.capabilities.resources).toEqual({ listChanged: true });
    const discovered = answerOf((await modern(url, "server/discover")).body);
    expect(discovered.result.capabilities.resources).toEqual({ listChanged: true });
  });

  it("SE-5 a client may subscribe to at most a thousand resources", async () => {
    const { url } = await start({ it: fixture("watched", "legacy") });
    const watcher = await client(modernWatcher, url);
    const uris = Array.from({ length: 1200 }, (_, index) => `watched:item/${index}`);
    // Five hundred per server.
    expect(await watcher.watch(...uris)).toEqual(uris.slice(0, 500));
    const { request } = await connect(url);
    expect((await request("resources/subscribe", { uri: "watched:one" })).error).toMatchObject({
      data: { code: "SERVICE_UNAVAILABLE", kind: "Overloaded" },
    });
    expect((await request("resources/subscribe", { uri: "watched:item/1" })).result).toEqual({});
  });
});

describe("the wire", () => {
  it("GR-7 the acknowledgement comes first; updates have the client's subscription id, not the hub's", async () => {
    const { url } = await start({ it: fixture("watched", "modern") });
    const notifications = { resourceSubscriptions: ["watched:one", "watched:one"], toolsListChanged: true };
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const stream = await openStream(url, {
      method: "POST",
      headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" },
      body: { jsonrpc: "2.0", id: "mine", method: "subscriptions/listen", params: { notifications, _meta } },
    });
    cleanups.push(() => stream.close());
    const { messages } = stream;
    const stamp = { "io.modelcontextprotocol/subscriptionId": "mine" };
    await messages.more(0);
    const caller = await client(legacyWatcher, url);
    await caller.call("touch", { uri: "watched:one" });
    await messages.more(1);
    expect(messages.all).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: { toolsListChanged: true, resourceSubscriptions: ["watched:one"] }, _meta: stamp },
      },
      { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "watched:one", _meta: stamp } },
    ]);
  });
});

describe("the end of the hub", () => {
  it("LC-5 ends every subscription at every server", async () => {
    const entries = await Promise.all(
      SERVERS.map(async ([, startServer], index) => [`s${index}`, (await startServer()).entry]),
    );
    const home = await makeHome(Object.fromEntries(entries));
    const hub = await startHub(home);
    const url = `${hub.url}/mcp`;
    const uris = SERVERS.map((_, index) => `plugboard://s${index}/watched:one`);
    const watchers = [await client(legacyWatcher, url), await client(modernWatcher, url)];
    for (const watcher of watchers) expect(await watcher.watch(...uris)).toEqual(uris);
    expect(await hub.stop()).toBe(0);
    expect(processesWithMark(home.mark)).toEqual([]);
    await home.remove();
  });
});

describe("a server that is started on demand", () => {
  it.each(CLIENTS)(
    "LC-2 is started by %s that subscribes, stays up for it, and stops when it has left",
    async (_, open) => {
      const resilience = { on_demand: true, idle_ms: 1 };
      const { url, home } = await start({ it: { ...fixture("watched", "legacy"), resilience } });
      const asleep = async () => {
        while (processesWithMark(home.mark).length > 0) await new Promise(setImmediate);
      };
      await asleep();
      const { hello } = await connect(url);
      expect(hello.result.capabilities.resources).toEqual({ listChanged: true, subscribe: true });
      const watcher = await client(open, url);
      expect(await watcher.watch("watched:one")).toEqual(["watched:one"]);
      const [pid] = processesWithMark(home.mark);
      expect(pid).toBeGreaterThan(0);
      await watcher.call("touch", { uri: "watched:one" });
      expect(await watcher.nth(1)).toBe("watched:one");
      // Longer than its idle timeout.
      for (let round = 0; round < 5; round++) await watcher.call("log");
      expect(processesWithMark(home.mark)).toEqual([pid]);
      await watcher.unwatch("watched:one");
      await asleep();
      expect(watcher.heard).toEqual(["watched:one"]);
    },
  );
});
