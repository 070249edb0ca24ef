// A hub behind a corporate proxy: only the proxy can resolve the names of the servers.

import { afterAll, beforeAll, expect, it } from "vitest";
import { tokenOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { startProxy, type ForwardProxy } from "../support/forward-proxy.ts";
import { startRemote, type Remote } from "../support/remote.ts";
import { connect, http } from "../support/rpc.ts";
import { startSse, startWebSocket, type SdkServer } from "../support/sdk-servers.ts";

let proxy: ForwardProxy;
let guarded: ForwardProxy;
let legacy: Remote;
let modern: Remote;
let sse: SdkServer;
let socket: SdkServer;
let home: Home;
let hub: RunningHub;

/** The same server under a name that only the proxy can resolve. */
const named = (url: string, name: string) => url.replace("127.0.0.1", name).replace("localhost", name);

beforeAll(async () => {
  [proxy, guarded] = await Promise.all([startProxy(), startProxy("user:pass-word-1")]);
  [legacy, modern] = await Promise.all([startRemote("legacy-http"), startRemote("modern-http")]);
  [sse, socket] = await Promise.all([startSse(), startWebSocket()]);
  home = await makeHome({
    legacy: { url: named(legacy.url, "legacy.test") },
    modern: { url: named(modern.url, "modern.test") },
    sse: { url: named(sse.url, "sse.test"), type: "sse" },
    socket: { url: named(socket.url, "socket.test") },
    here: { url: legacy.url },
    own: { url: named(legacy.url, "own.test"), proxy: guarded.url },
    refused: { url: named(legacy.url, "refused.test"), proxy: guarded.url.replace("pass-word-1", "wrong") },
    direct: { url: named(legacy.url, "direct.test"), proxy: false },
    exempt: { url: named(legacy.url, "exempt.test") },
    odd: { url: named(legacy.url, "odd.test"), proxy: "socks5://127.0.0.1:1" },
    program: fixture("echo"),
    told: { ...fixture("echo"), proxy: true },
  });
  hub = await startHub(home, {
    env: { HTTP_PROXY: proxy.url, https_proxy: proxy.url, NO_PROXY: "exempt.test, .other" },
  });
});

afterAll(async () => {
  expect(await hub?.stop()).toBe(0);
  await Promise.all([sse, socket].map((each) => each?.close()));
  await Promise.all([legacy, modern, proxy, guarded].map((each) => each?.stop()));
  await home?.remove();
});

async function server(name: string) {
  const token = await tokenOf(home);
  const headers = { authorization: `Bearer ${token}` };
  return JSON.parse((await http(`${hub.url}/api/v1/servers/${name}`, { method: "GET", headers })).body);
}

it.each([
  ["legacy", /^POST http:\/\/legacy\.test:/],
  ["modern", /^POST http:\/\/modern\.test:/],
  ["sse", /^GET http:\/\/sse\.test:/],
  ["socket", /^CONNECT socket\.test:/],
])("%s is reached through HTTP_PROXY", async (name, seen) => {
  expect(await server(name)).toMatchObject({ status: "running" });
  expect(proxy.log).toContainEqual(expect.stringMatching(seen));
});

it("local servers, NO_PROXY and `proxy: false` bypass the proxy", async () => {
  expect(await server("here")).toMatchObject({ status: "running" });
  for (const name of ["exempt", "direct"]) {
    const { status, error } = await server(name);
    expect([status, error]).toMatchObject(["error", { detail: expect.stringContaining("ENOTFOUND") }]);
  }
  expect(proxy.log.join()).not.toMatch(/127\.0\.0\.1|localhost|exempt|direct/);
});

it("an entry may have its own proxy, whose credentials are not shown", async () => {
  const own = await server("own");
  expect(own).toMatchObject({ status: "running" });
  expect(JSON.stringify(own)).not.toContain("pass-word-1");
  expect(guarded.log).toContainEqual(expect.stringMatching(/^POST http:\/\/own\.test:/));
  expect(proxy.log.join()).not.toContain("own.test");
});

it("the error describes the problem of a proxy", async () => {
  expect((await server("refused")).error).toMatchObject({
    message: expect.stringMatching(/^The proxy .* asks for credentials$/),
  });
  expect((await server("odd")).error).toMatchObject({ code: "VALIDATION_ERROR", message: /http:\/\/ or https:\/\// });
});

it("SE-2 a program gets the proxy variables only if its entry says so", async () => {
  const session = await connect(`${hub.url}/mcp`);
  const variables = async (name: string) => {
    const { result } = await session.request("tools/call", { name: `${name}__environment`, arguments: {} });
    return JSON.parse(result.content[0].text);
  };
  expect(Object.keys(await variables("program")).join()).not.toMatch(/proxy/i);
  expect(await variables("told")).toMatchObject({ HTTP_PROXY: proxy.url, NO_PROXY: "exempt.test, .other" });
});
