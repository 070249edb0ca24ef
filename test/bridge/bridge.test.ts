// `plugboard stdio` beside a running hub: a small process that carries messages to it. Tested with raw messages and the official
// SDKs; matrix.test.ts covers every feature, restart.test.ts the loss of the hub.

import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectAsked, type AskedClient, type ClientEra } from "../support/asked-clients.ts";
import { fixture, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { RawClient } from "../support/raw-stdio.ts";

const SERVERS = { it: fixture("echo"), asks: fixture("asks-legacy"), newer: fixture("asks-modern") };
/** The number of server processes of the hub. A client adds none. */
const RUNNING = Object.keys(SERVERS).length;

let home: Home;
let hub: RunningHub;
const clients: RawClient[] = [];

beforeAll(async () => {
  home = await makeHome(SERVERS, { small: { servers: ["it"], tools: ["echo"] } });
  hub = await startHub(home);
});

afterAll(async () => {
  await hub?.stop();
  await home?.remove();
});

afterEach(async () => {
  // Only a failed test leaves a client running.
  for (const { process: child, finished } of clients.splice(0)) {
    child.kill("SIGKILL");
    await finished;
  }
});

function launch(...args: string[]): RawClient {
  const client = new RawClient(home, args);
  clients.push(client);
  return client;
}

async function connect(...args: string[]): Promise<RawClient> {
  const client = launch(...args);
  await client.initialize();
  return client;
}

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const isTool = ({ method }: { method?: string }) => method === "notifications/tools/list_changed";

describe("a client of a running hub", () => {
  it("GR-7 completes the handshake, lists and calls; servers and call log are those of the hub", async () => {
    const client = launch();
    expect((await client.initialize()).result).toMatchObject({
      protocolVersion: "2025-11-25",
      serverInfo: { name: "plugboard" },
    });
    expect(await client.tools()).toEqual(expect.arrayContaining(["it__echo", "asks__form"]));
    const pid = (await client.call("it__pid")).result.content[0].text;
    const { stdout } = await plugboard(home, ["call", "it.pid"]);
    expect(stdout.trim()).toBe(pid);
    expect(await client.end({ leaves: RUNNING })).toMatchObject({ code: 0, stderr: "" });
    const { stdout: calls } = await plugboard(home, ["calls", "--json"]);
    expect(calls).toMatch(/"raw"[^]*"pid"|"pid"[^]*"raw"/);
  });

  it("GR-7 modern requests need no handshake, and none is sent", async () => {
    const client = launch();
    expect((await client.request("server/discover", { _meta })).result).toMatchObject({ resultType: "complete" });
    const call = { name: "it__echo", arguments: { text: "modern" }, _meta };
    expect((await client.request("tools/call", call)).result).toMatchObject({ content: [{ text: "modern" }] });
    // Names that cannot be sent unencoded in a header.
    const odd = { name: "nö such\ntool", arguments: {}, _meta };
    expect((await client.request("tools/call", odd)).error).toMatchObject({ code: -32602 });
    expect((await client.request("no/such\r\nmethod", { _meta })).error).toMatchObject({ code: -32601 });
    expect(await client.end({ leaves: RUNNING })).toMatchObject({ code: 0 });
  });

  it("GR-7 answers arrive unchanged, in any order, and large ones are complete", async () => {
    const client = await connect();
    const path = join(home.dir, "now");
    const late = client.call("it__wait_for_file", { path, name: "NONE" });
    const many = await Promise.all(Array.from({ length: 50 }, (_, n) => client.call("it__add", { a: n, b: 1 })));
    expect(many.map(({ result }) => result.content[0].text)).toEqual(Array.from({ length: 50 }, (_, n) => `${n + 1}`));
    expect((await client.call("it__big", { bytes: 3_000_000 })).result.content[0].text).toHaveLength(3_000_000);
    await writeFile(path, "");
    expect((await late).result.content[0].text).toBe("(unset)");
    await client.end({ leaves: RUNNING });
  });

  it("GR-5 unknown members pass byte by byte", async () => {
    const client = await connect();
    await client.call("it__unknown_fields");
    const { stdout } = await client.end({ leaves: RUNNING });
    expect(stdout).toContain('{"type": "hologram", "depth":1.0,"id":12345678901234567890}');
    expect(stdout).toContain('"later":{"exponent":1E+2,"minus":-0,"order":{"b":1,"a":2}}');
  });

  it("GR-1 --group serves only that group", async () => {
    const client = await connect("--group", "small");
    expect(await client.tools()).toEqual(["echo"]);
    await client.end({ leaves: RUNNING });
  });

  it("GR-1 an unknown group is an error that names it", async () => {
    const client = launch("--group", "nope");
    const { code, stdout, stderr } = await client.end({ leaves: RUNNING });
    expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
    expect(stderr).toMatch(/^error: Group not found\n {2}cause: There is no group "nope"/);
  });

  it("LC-1 --own starts its own servers although a hub runs", async () => {
    const client = await connect("--own", "--group", "small");
    expect((await client.call("echo", { text: "x" })).result.content[0].text).toBe("x");
    expect(processesWithMark(home.mark).length).toBeGreaterThan(RUNNING);
    expect(await client.end({ leaves: RUNNING })).toMatchObject({ code: 0 });
  });

  it("GR-8 a change of the tools is announced", async () => {
    const client = await connect();
    await client.tools();
    await client.call("it__change", { name: "fresh" });
    expect(await client.messages.find(isTool)).toBeDefined();
    await client.end({ leaves: RUNNING });
  });

  it("GR-7 progress arrives with the client's own token, before the answer", async () => {
    const client = await connect();
    const params = { name: "it__progress", arguments: { steps: 3 }, _meta: { progressToken: "t" } };
    await client.request("tools/call", params);
    const progress = client.messages.all.filter(({ method }) => method === "notifications/progress");
    expect(progress.map((message) => message.params.progressToken)).toEqual(["t", "t", "t"]);
    await client.end({ leaves: RUNNING });
  });

  it("RS-6 --log-level info logs as JSON on stderr where messages go", async () => {
    const client = await connect("--log-level", "info");
    const { stderr } = await client.end({ leaves: RUNNING });
    expect(JSON.parse(stderr)).toMatchObject({ level: 30, name: "plugboard", msg: expect.stringContaining(hub.url) });
  });

  it("uses much less memory than a hub", async () => {
    const [client, own] = [await connect(), await connect("--own")];
    const residentKb = ({ process: { pid } }: RawClient) =>
      Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    await Promise.all([client.tools(), own.tools()]);
    expect(residentKb(client)).toBeLessThan(residentKb(own) * 0.8);
    await own.end({ leaves: RUNNING });
    await client.end({ leaves: RUNNING });
  });
});

describe("errors are JSON-RPC errors", () => {
  it("F06 invalid messages, and ids that are in use", async () => {
    const client = await connect();
    const junk = ["hello", "{", "[]", "42", "null", "{}", '{"jsonrpc":"1.0","id":"old","method":"ping"}'];
    for (const line of junk) client.write(`${line}\n`);
    client.write("\r\n\n  \n");
    client.send({ id: "twice", method: "tools/call", params: { name: "it__sleep", arguments: { ms: 300 } } });
    client.send({ id: "twice", method: "ping" });
    const refused = await client.messages.find(({ id, error }) => id === "twice" && error !== undefined);
    expect(refused.error).toMatchObject({ code: -32600, message: "Request id twice is still in use" });
    await client.messages.find(({ id, result }) => id === "twice" && result !== undefined);
    expect(client.messages.all.filter(({ error }) => error !== undefined).length).toBeGreaterThanOrEqual(junk.length);
    // The id can be used again.
    client.send({ id: "twice", method: "ping" });
    await client.messages.find(
      ({ id, result }) => id === "twice" && result !== undefined && result.content === undefined,
    );
    await client.end({ leaves: RUNNING });
  });

  it("SE-5 a line without an end: an error, and the bridge exits", async () => {
    const client = await connect();
    client.write(Buffer.alloc(5 << 20, "x"));
    expect(await client.messages.find(({ error }) => error !== undefined)).toMatchObject({ id: null });
    expect(await client.end({ leaves: RUNNING })).toMatchObject({ code: 0 });
  });

  it("CL-9 a batch is answered as a batch for an old revision, and refused for a newer one", async () => {
    const batch = [
      { jsonrpc: "2.0", id: "a", method: "tools/call", params: { name: "it__sleep", arguments: { ms: 50 } } },
      { jsonrpc: "2.0", method: "notifications/roots/list_changed" },
      { jsonrpc: "1.0", id: "b", method: "ping" },
      { jsonrpc: "2.0", id: "c", method: "ping" },
    ];
    const old = launch();
    await old.initialize("2025-03-26");
    old.write(`${JSON.stringify(batch)}\n`);
    const isAnswer = (line: string) => line.startsWith("[");
    await expect.poll(() => old.strays.filter(isAnswer).length).toBe(1);
    const answers = JSON.parse(old.strays.splice(0)[0] ?? "");
    expect(answers.map(({ id }: { id: string }) => id).toSorted()).toEqual(["a", "b", "c"]);
    await old.end({ leaves: RUNNING });

    const newer = await connect();
    newer.write(`${JSON.stringify(batch)}\n`);
    expect(await newer.messages.find(({ id }) => id === null)).toMatchObject({ error: { code: -32600 } });
    await newer.end({ leaves: RUNNING });
  });
});

describe("cancellation", () => {
  it("CL-3 a legacy request is cancelled at the server, and is not answered", async () => {
    const client = await connect();
    client.send({ id: "c", method: "tools/call", params: { name: "it__hang", arguments: {} } });
    await expect.poll(async () => heardOf(await client.call("it__heard"))).toContain("tools/call");
    client.send({ method: "notifications/cancelled", params: { requestId: "c", reason: "enough" } });
    await expect.poll(async () => heardOf(await client.call("it__heard"))).toContain("notifications/cancelled");
    expect(client.messages.all.some(({ id }) => id === "c")).toBe(false);
    await client.end({ leaves: RUNNING });
  });

  it("CL-3 a modern request is cancelled by closing its stream", async () => {
    const client = launch();
    const cancels = async () => {
      const { result } = await client.request("tools/call", { name: "it__heard", arguments: {}, _meta });
      return result.content[0].text.split("notifications/cancelled").length;
    };
    const before = await cancels();
    client.send({ id: "m", method: "tools/call", params: { name: "it__hang", arguments: {}, _meta } });
    await cancels();
    client.send({ method: "notifications/cancelled", params: { requestId: "m" } });
    await expect.poll(cancels).toBeGreaterThan(before);
    expect(client.messages.all.some(({ id }) => id === "m")).toBe(false);
    await client.end({ leaves: RUNNING });
  });

  const heardOf = (answer: { result: { content: { text: string }[] } }) => answer.result.content[0]?.text ?? "";
});

describe("the end", () => {
  it("GR-7 all requests before the end of stdin are answered", async () => {
    const client = launch();
    const answers = [client.initialize(), client.tools(), client.call("it__big", { bytes: 1_000_000 })];
    client.process.stdin.end();
    await Promise.all(answers);
    expect(await client.end({ leaves: RUNNING })).toMatchObject({ code: 0 });
  });

  it("stdin closed at once: exit 0", async () => {
    expect(await launch().end({ leaves: RUNNING })).toMatchObject({ code: 0, stdout: "" });
  });

  it("stdin closed during a call and a subscription: exits without waiting for them", async () => {
    const client = launch();
    const listen = { notifications: { toolsListChanged: true }, _meta };
    client.send({ id: "l", method: "subscriptions/listen", params: listen });
    await client.messages.find(({ method }) => method === "notifications/subscriptions/acknowledged");
    await client.initialize();
    client.send({ id: "h", method: "tools/call", params: { name: "it__hang", arguments: {} } });
    await client.tools();
    expect(await client.end({ leaves: RUNNING })).toMatchObject({ code: 0 });
  });

  it.each(["SIGTERM", "SIGINT"] as const)("%s: exits", async (signal) => {
    const client = await connect();
    client.process.kill(signal);
    expect(await client.finished).toMatchObject({ code: 130 });
    expect(client.strays).toEqual([]);
  });

  it("F46 a client that disappears: exits", async () => {
    const client = await connect();
    client.process.stdout.destroy();
    client.process.stdin.destroy();
    expect(await client.finished).toMatchObject({ code: 0 });
  });
});

describe("a client that does not read", () => {
  it("SE-5 slows the bridge down: nothing is lost, and little is buffered", async () => {
    const client = await connect();
    client.process.stdout.pause();
    const ids = Array.from({ length: 40 }, (_, n) => `big ${n}`);
    for (const id of ids)
      client.send({ id, method: "tools/call", params: { name: "it__big", arguments: { bytes: 2 << 20 } } });
    // All results have reached the hub.
    await expect
      .poll(async () => (await plugboard(home, ["calls", "--json", "--limit", "100"])).stdout.split('"big"').length, {
        timeout: 60_000,
        interval: 500,
      })
      .toBeGreaterThan(ids.length / 2);
    const peakKb = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${client.process.pid}/status`, "utf8"))?.[1];
    // Without a bound, the bridge would hold all 80 MB twice.
    expect(Number(peakKb)).toBeLessThan(130_000);
    client.process.stdout.resume();
    await Promise.all(ids.map((id) => client.messages.find((message) => message.id === id)));
    await client.end({ leaves: RUNNING });
  });
});

describe.each<ClientEra>(["legacy", "modern"])("an official client, %s", (era) => {
  let client: AskedClient;

  beforeAll(async () => {
    client = await connectAsked(era, { home });
  });

  afterAll(() => client?.close());

  it.each(["asks", "newer"])("GR-7 gets requests of the server %s, and answers", async (server) => {
    const form = JSON.parse((await client.call(`${server}__form`, { marker: "m" })).text);
    expect(form).toEqual({ action: "accept", content: { said: "you asked: m" } });
    expect((await client.call(`${server}__sampling`, { marker: "s" })).text).toContain("sampled");
    expect((await client.call(`${server}__roots`)).text).toContain("file:///home");
  });

  it("GR-7 cancels a call", async () => {
    const taken = new AbortController();
    const call = client.call("it__hang", {}, { signal: taken.signal });
    taken.abort();
    await expect(call).rejects.toThrow();
    expect((await client.call("it__echo", { text: "on" })).text).toBe("on");
  });
});
