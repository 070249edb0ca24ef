// Resource subscriptions and changed lists at servers where each caller has credentials of its own: the built hub, real servers of
// both eras over stdio and HTTP, and two people with the official SDKs as clients.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client/client.ts";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub, type Servers } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { startRemote, type Remote } from "../support/remote.ts";
import { answerOf, connect, modern } from "../support/rpc.ts";
import { openStream } from "../support/streams.ts";
import { legacyWatcher, modernWatcher, type OpenWatcher, type Watcher } from "../support/watchers.ts";

const NAMES = ["alice", "bob"] as const;
type Name = (typeof NAMES)[number];
const KEYS: Readonly<Record<Name, string>> = { alice: "alice-k3y-7f31c9", bob: "bob-k3y-90ab12" };

interface Person {
  /** Of the hub. */
  readonly token: string;
  readonly client: HubClient;
}

interface World {
  readonly home: Home;
  readonly url: string;
  readonly owner: HubClient;
  /** Another access token of the same person. */
  readonly another: (name: Name) => Promise<{ readonly id: string; readonly token: string }>;
  readonly people: Readonly<Record<Name, Person>>;
}

const cleanups: (() => unknown)[] = [];
const endings: (() => unknown)[] = [];
const endAll = async (all: (() => unknown)[]) => {
  for (const cleanup of all.splice(0).toReversed()) await cleanup();
};
afterEach(() => endAll(cleanups));
afterAll(() => endAll(endings));

interface Started {
  readonly entry: Servers[string];
  /** Ends all connections of the server, as a crash does. */
  readonly again?: () => Promise<void>;
}

const SERVERS: [name: string, start: () => Promise<Started>][] = [
  ["a legacy stdio server", async () => ({ entry: stdio("legacy") })],
  ["a modern stdio server", async () => ({ entry: stdio("modern") })],
  ["a legacy HTTP server", () => remote("legacy")],
  ["a modern HTTP server", () => remote("modern")],
];
const CLIENTS: [name: string, open: OpenWatcher][] = [
  ["legacy clients", legacyWatcher],
  ["modern clients", modernWatcher],
];

function stdio(era: string): Servers[string] {
  return { ...fixture("watched", era), env: { KEY: "${user:TRACKER}" } };
}

async function remote(era: string): Promise<Started> {
  const args = [era, "--http", `--keys=${Object.values(KEYS).join(",")}`];
  let running: Remote = await startRemote("watched", args);
  endings.push(() => running.stop());
  const again = async () => {
    await running.stop();
    running = await startRemote("watched", args, running.port);
  };
  return { entry: { url: running.url, headers: { Authorization: "Bearer ${user:TRACKER}" } }, again };
}

async function world(servers: Servers, until = cleanups): Promise<World> {
  const home = await makeHome(servers);
  await writeFile(join(home.dir, "config/hub.json"), '{ "auth": { "mcp": "required" } }');
  const hub = await startHub(home);
  until.push(async () => {
    await hub.stop();
    expect(processesWithMark(home.mark)).toEqual([]);
    await home.remove();
  });
  const owner = await clientOf(hub);
  let tokens = 0;
  const another = async (name: Name) => owner.tokens.create({ name: `${name} ${++tokens}`, for: `service:${name}` });
  const person = async (name: Name): Promise<Person> => {
    const { token } = await another(name);
    return { token, client: new HubClient({ url: hub.url, token }) };
  };
  return {
    home,
    url: `${hub.url}/mcp`,
    owner,
    another,
    people: { alice: await person("alice"), bob: await person("bob") },
  };
}

async function storeKeys({ people, owner }: World, ...names: readonly Name[]): Promise<void> {
  for (const name of names) await people[name].client.connections.setSecret("TRACKER", KEYS[name]);
  while ((await owner.servers.get("it")).status !== "running") continue;
}

async function client(open: OpenWatcher, { url }: World, token: string): Promise<Watcher> {
  const watcher = await open(url, token);
  cleanups.push(() => watcher.close().catch(() => undefined)); // closed by the test already
  return watcher;
}

/** The requests that the server got about a resource with the credentials of this caller, once there are this many. */
async function untilAsked(caller: Watcher, uri: string, expected: readonly string[]): Promise<void> {
  for (;;) {
    const log: string[] = JSON.parse(await caller.call("log"));
    const relevant = log.filter((line) => line.endsWith(` ${uri}`)).map((line) => line.split(" ")[0] ?? "");
    if (relevant.length >= expected.length) return expect(relevant).toEqual(expected);
  }
}

describe.each(SERVERS)("AU-5 %s with credentials of each caller", (_, startServer) => {
  let given: World;
  let again: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    const server = await startServer();
    again = server.again;
    given = await world({ it: server.entry }, endings);
    await storeKeys(given, "alice", "bob");
  });

  it.each(CLIENTS)("A21 GR-7 tells %s of one person nothing that another one is subscribed to", async (kind, open) => {
    const { alice, bob } = given.people;
    const uri = `watched:item/${kind.replaceAll(" ", "-")}`;
    const [hers, his] = [await client(open, given, alice.token), await client(open, given, bob.token)];
    expect([await hers.watch(uri), await his.watch(uri)]).toEqual([[uri], [uri]]);
    const second = await client(open, given, (await given.another("alice")).token);
    await second.watch(uri);
    for (let count = 1; count <= 2; count++) {
      await hers.call("touch", { uri });
      expect(await Promise.all([hers.nth(count), second.nth(count)])).toEqual([uri, uri]);
    }
    await his.call("touch", { uri });
    expect(await his.nth(1)).toBe(uri);
    expect([hers.heard.length, second.heard.length, his.heard.length]).toEqual([2, 2, 1]);
    // Once for all clients of a person, until the last one has gone.
    await untilAsked(hers, uri, ["subscribe"]);
    await hers.unwatch(uri);
    await second.close();
    await untilAsked(await client(open, given, alice.token), uri, ["subscribe", "unsubscribe"]);
    await untilAsked(his, uri, ["subscribe"]);
    await his.call("touch", { uri });
    expect(await his.nth(2)).toBe(uri);
    expect(hers.heard).toHaveLength(2);
  });

  it.each(CLIENTS)("A18 unsubscribes when the access of %s is revoked", async (kind, open) => {
    const uri = `watched:item/revoked-${kind.replaceAll(" ", "-")}`;
    const { id, token } = await given.another("bob");
    const revoked = await client(open, given, token);
    await revoked.watch(uri);
    const observer = await client(open, given, given.people.bob.token);
    await untilAsked(observer, uri, ["subscribe"]);
    await given.owner.tokens.revoke(id);
    await untilAsked(observer, uri, ["subscribe", "unsubscribe"]);
    expect(revoked.heard).toEqual([]);
  });

  it("LC-6 subscribes again after a crash, and each person gets one update", async () => {
    const uri = "watched:item/crash";
    const { alice, bob } = given.people;
    const watchers = [await client(legacyWatcher, given, alice.token), await client(modernWatcher, given, bob.token)];
    for (const watcher of watchers) await watcher.watch(uri);
    if (again === undefined) for (const watcher of watchers) await watcher.call("crash").catch(() => undefined);
    await again?.();
    // Detects that a remote server has forgotten the session.
    for (const watcher of watchers) await watcher.call("log").catch(() => undefined);
    expect(await Promise.all(watchers.map((watcher) => watcher.nth(1)))).toEqual([uri, uri]);
    await watchers[1]?.call("touch", { uri });
    expect(await watchers[1]?.nth(2)).toBe(uri);
    await watchers[0]?.call("touch", { uri });
    expect(await watchers[0]?.nth(2)).toBe(uri);
    expect(watchers.map(({ heard }) => heard.length)).toEqual([2, 2]);
  });
});

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe("AU-5 the tools of a server with credentials of each caller", () => {
  it.each(["legacy", "modern"])(
    "GR-8 all clients are told when they change for the person who lists them: %s",
    async (era) => {
      const given = await world({ it: (await remote(era)).entry });
      await storeKeys(given, "alice", "bob");
      const { alice, bob } = given.people;
      const stream = await openStream(given.url, {
        method: "POST",
        headers: {
          authorization: `Bearer ${bob.token}`,
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "subscriptions/listen",
        },
        body: {
          jsonrpc: "2.0",
          id: 1,
          method: "subscriptions/listen",
          params: { notifications: { toolsListChanged: true }, _meta: META },
        },
      });
      cleanups.push(() => stream.close());
      await stream.messages.more(0);
      // The tools are listed with her key.
      await (await client(modernWatcher, given, alice.token)).call("extend");
      await stream.messages.more(1);
      expect(stream.messages.all[1]).toMatchObject({ method: "notifications/tools/list_changed" });
      const { body } = await modern(given.url, "tools/list", {}, { authorization: `Bearer ${bob.token}` });
      expect(answerOf(body).result.tools).toContainEqual(
        expect.objectContaining({ name: expect.stringMatching(/^extra-/) }),
      );
    },
  );
});

describe("AU-5 credentials that come and go", () => {
  it("A21 nobody subscribes without credentials of their own", async () => {
    const given = await world({ it: (await remote("legacy")).entry });
    await storeKeys(given, "alice");
    const { bob } = given.people;
    const { request } = await connect(given.url, "2025-11-25", undefined, {}, `Bearer ${bob.token}`);
    expect((await request("resources/subscribe", { uri: "watched:one" })).error).toMatchObject({
      data: { kind: "SecretRequired", hint: "plugboard secret set TRACKER --for service:bob" },
    });
    expect(await (await client(modernWatcher, given, bob.token)).watch("watched:one")).toEqual([]);
  });

  it.each(CLIENTS)("A21 a subscription of %s ends with the secret, and goes on with the next one", async (__, open) => {
    const given = await world({ it: stdio("legacy") });
    await storeKeys(given, "bob", "alice");
    const { alice } = given.people;
    const watcher = await client(open, given, alice.token);
    await watcher.watch("watched:one");
    const before = processesWithMark(given.home.mark);
    await alice.client.connections.deleteSecret("TRACKER");
    await expect.poll(() => processesWithMark(given.home.mark).length).toBe(before.length - 1);
    expect(watcher.heard).toEqual([]);
    await alice.client.connections.setSecret("TRACKER", KEYS.alice);
    expect(await watcher.nth(1)).toBe("watched:one");
    await watcher.call("touch", { uri: "watched:one" });
    expect(await watcher.nth(2)).toBe("watched:one");
  });

  it.each(CLIENTS)(
    "A21 subscriptions of %s move to their own credentials when the entry is changed",
    async (__, open) => {
      const given = await world({ it: fixture("watched", "legacy") });
      const { alice, bob } = given.people;
      await alice.client.connections.setSecret("TRACKER", KEYS.alice);
      const [hers, his] = [await client(open, given, alice.token), await client(open, given, bob.token)];
      for (const watcher of [hers, his]) await watcher.watch("watched:one");
      await given.owner.servers.patch("it", { env: { KEY: "${user:TRACKER}" } });
      // She gets one update for what she may have missed.
      expect(await hers.nth(1)).toBe("watched:one");
      await hers.call("touch", { uri: "watched:one" });
      expect(await hers.nth(2)).toBe("watched:one");
      expect(his.heard).toEqual([]);
    },
  );

  it("LC-5 a session that outlives the hub gets its own subscriptions back", async () => {
    const home = await makeHome({ it: stdio("legacy") });
    await writeFile(join(home.dir, "config/hub.json"), '{ "auth": { "mcp": "required" } }');
    const run = async (port: string): Promise<RunningHub> => {
      const started = await startHub(home, { args: ["--port", port] });
      cleanups.push(() => started.kill());
      return started;
    };
    cleanups.push(() => home.remove());
    const first = await run("0");
    const owner = await clientOf(first);
    const { token } = await owner.tokens.create({ name: "alice" });
    await new HubClient({ url: first.url, token }).connections.setSecret("TRACKER", KEYS.alice);
    await expect.poll(async () => (await owner.servers.get("it")).status).toBe("running");
    const session = await connect(`${first.url}/mcp`, "2025-11-25", undefined, {}, `Bearer ${token}`);
    expect((await session.request("resources/subscribe", { uri: "watched:one" })).result).toEqual({});
    await first.stop();
    await run(new URL(first.url).port);
    const log = async () => {
      const reply = await session.request("tools/call", { name: "it:log", arguments: {} });
      return reply.result?.content?.[0]?.text as string;
    };
    await expect.poll(log).toBe('["subscribe watched:one"]');
  });
});
