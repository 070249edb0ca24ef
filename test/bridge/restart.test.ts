// `plugboard stdio` when its hub is killed or stopped and started again, on the same port or another. The client keeps its pipe,
// gets an error for each lost call, and continues.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { RawClient } from "../support/raw-stdio.ts";

const SERVERS = { it: fixture("echo"), watched: fixture("watched", "legacy"), logs: fixture("logs") };

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function newHome(): Promise<Home> {
  const home = await makeHome(SERVERS);
  ends.push(() => home.remove());
  return home;
}

async function run(home: Home, port = "0"): Promise<RunningHub> {
  const hub = await startHub(home, { args: ["--port", port] });
  ends.push(() => hub.kill());
  return hub;
}

async function connect(home: Home, ...args: string[]): Promise<RawClient> {
  const client = new RawClient(home, args);
  ends.push(async () => {
    client.process.kill("SIGKILL");
    await client.finished;
  });
  await client.initialize();
  return client;
}

const told = (client: RawClient, method: string) => client.messages.all.filter((each) => each.method === method);
const CHANGED = ["tools", "resources", "prompts"].map((list) => `notifications/${list}/list_changed`);

/** Calls until one succeeds. Returns the errors that the client saw during the restart. */
async function untilAnswered(client: RawClient): Promise<object[]> {
  const failures: object[] = [];
  for (;;) {
    const { result, error } = await client.call("it__echo", { text: "again" });
    if (result !== undefined) return failures;
    failures.push(error);
  }
}

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe.each(["the same port", "another port"])("a hub that is killed and restarted on %s", (where) => {
  const portOf = ({ url }: RunningHub) => (where === "the same port" ? new URL(url).port : "0");

  it("F41 open calls end with an unknown outcome, later ones fail at once, and all work after the restart", async () => {
    const home = await newHome();
    const first = await run(home);
    const client = await connect(home);
    const pid = client.process.pid;
    const hanging = client.call("it__hang");
    await client.tools();
    await first.kill();

    expect((await hanging).error).toMatchObject({
      code: -31502,
      message: expect.stringContaining("it is unknown whether the request was executed"),
    });
    expect((await client.call("it__echo", { text: "x" })).error).toMatchObject({
      code: -31502,
      message: "No hub is running",
      data: { kind: "ConnectionFailed", hint: "plugboard start" },
    });

    const before = client.messages.all.length;
    const second = await run(home, portOf(first));
    // The bridge reconnects by itself: the client has not called since.
    await client.messages.find(
      (message) => client.messages.all.indexOf(message) >= before && message.method === CHANGED[0],
    );
    for (const method of CHANGED) expect(told(client, method)).not.toEqual([]);
    expect((await client.call("it__echo", { text: "back" })).result.content[0].text).toBe("back");
    expect(client.process.pid).toBe(pid);
    client.process.stdin.end();
    expect(await client.finished).toMatchObject({ code: 0, stderr: "" });
    expect(client.strays).toEqual([]);
    await second.stop();
  });

  it("F41 the log level and watched resources are restored", async () => {
    const home = await newHome();
    const first = await run(home);
    const client = await connect(home);
    await client.request("logging/setLevel", { level: "error" });
    await client.request("resources/subscribe", { uri: "watched:one" });
    await client.request("resources/subscribe", { uri: "watched:two" });
    await client.request("resources/unsubscribe", { uri: "watched:two" });
    await first.stop();
    await run(home, portOf(first));
    await untilAnswered(client);
    client.messages.all.splice(0);

    // The hub accepts connections before its servers run, so the client cannot know from when on the resource is watched.
    const updated = () => told(client, "notifications/resources/updated").map(({ params }) => params.uri);
    const touch = async () => {
      await client.call("watched__touch", { uri: "watched:two" });
      await client.call("watched__touch", { uri: "watched:one" });
      return updated();
    };
    await expect.poll(touch).toContain("watched:one");
    expect(new Set(updated())).toEqual(new Set(["watched:one"]));
    await client.call("logs__talk");
    const levels = told(client, "notifications/message").map(({ params }) => params.level);
    expect(levels).toEqual(["error", "critical", "alert", "emergency"]);
  });

  it.each(["kill", "stop"] as const)("a modern client's subscription continues after a %s", async (how) => {
    const home = await newHome();
    const first = await run(home);
    const client = new RawClient(home);
    ends.push(async () => client.process.kill("SIGKILL"));
    const call = (name: string, args: object) => client.request("tools/call", { name, arguments: args, _meta });
    const notifications = { toolsListChanged: true, resourceSubscriptions: ["watched:one"] };
    client.send({ id: "listen", method: "subscriptions/listen", params: { notifications, _meta } });
    const acknowledged = "notifications/subscriptions/acknowledged";
    await client.messages.find(({ method }) => method === acknowledged);
    await first[how]();
    const before = client.messages.all.length;
    const since = (method: string) => client.messages.all.slice(before).filter((message) => message.method === method);
    await run(home, portOf(first));
    const updated = "notifications/resources/updated";
    // Watched resources may have changed in the meantime.
    await expect.poll(() => since("notifications/tools/list_changed")).not.toEqual([]);
    await expect.poll(() => since(updated)).not.toEqual([]);
    expect(since(updated)[0]?.params).toMatchObject({
      uri: "watched:one",
      _meta: { "io.modelcontextprotocol/subscriptionId": "listen" },
    });
    const count = since(updated).length;
    await call("watched__touch", { uri: "watched:one" });
    await expect.poll(() => since(updated).length).toBeGreaterThan(count);
    // The client sees one acknowledgement and no reply: its subscription has continued.
    expect(told(client, acknowledged)).toHaveLength(1);
    expect(client.messages.all.filter(({ id }) => id === "listen")).toEqual([]);
    client.process.stdin.end();
    expect(await client.finished).toMatchObject({ code: 0 });
  });

  it("F41 modern clients continue without a new handshake", async () => {
    const home = await newHome();
    const first = await run(home);
    const client = new RawClient(home);
    ends.push(async () => client.process.kill("SIGKILL"));
    const call = (name: string) => client.request("tools/call", { name, arguments: { text: "m" }, _meta });
    expect((await call("it__echo")).result).toBeDefined();
    const hanging = call("it__hang");
    await call("it__echo");
    await first.kill();
    expect((await hanging).error.message).toContain("it is unknown");
    expect((await call("it__echo")).error).toMatchObject({ data: { hint: "plugboard start" } });
    await run(home, portOf(first));
    expect((await call("it__echo")).result.content[0].text).toBe("m");
    client.process.stdin.end();
    expect(await client.finished).toMatchObject({ code: 0 });
  });
});

it("F29 a call in an expired session is made once, in a new session", async () => {
  const home = await newHome();
  const hub = await run(home);
  // Idle sessions expire after an hour. Here the stored sessions are removed instead.
  const client = await connect(home, "--url", `${hub.url}/mcp`, "--log-level", "info");
  await client.tools();
  const port = new URL(hub.url).port;
  await hub.stop();
  await rm(join(home.dir, "data/sessions"), { recursive: true });
  await run(home, port);
  const failures = await untilAnswered(client);
  expect(failures).toEqual([]);
  client.process.stdin.end();
  const { stderr } = await client.finished;
  expect(stderr.split("the session was lost").length).toBe(2);
});

it("a hub that never comes back does not end the bridge", async () => {
  const home = await newHome();
  const hub = await run(home);
  const client = await connect(home);
  await hub.kill();
  for (let round = 0; round < 3; round++) {
    expect((await client.request("tools/list")).error).toMatchObject({ data: { hint: "plugboard start" } });
  }
  client.process.stdin.end();
  expect(await client.finished).toMatchObject({ code: 0 });
  expect(client.strays).toEqual([]);
});

it("a killed hub is not taken for a running one: the client gets its own hub", async () => {
  const home = await newHome();
  const hub = await run(home);
  await hub.kill();
  const client = await connect(home);
  expect(await client.tools()).toContain("it__echo");
  await client.end();
});
