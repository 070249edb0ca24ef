// A server with a public address whose documents lead into this machine or its network. Nothing there may be connected to. The
// server's traffic goes through a proxy, since no test can have a public address; the hub's lookup says that its name has one.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { startProxy, type ForwardProxy } from "../support/forward-proxy.ts";
import { openInProcess, type InProcess } from "../support/in-process.ts";

const NAMES: Readonly<Record<string, string>> = {
  "mcp.example.com": "93.184.216.34",
  "inside.example.com": "127.0.0.1",
  "intranet.example.com": "10.1.1.1",
};

const lookup: LookupFunction = (name, { all }, callback) => {
  const address = NAMES[name] ?? "127.0.0.1";
  if (all === true) callback(null, [{ address, family: 4 }]);
  else callback(null, address, 4);
};

let inside: Server;
let insidePort: number;
let hits = 0;
let server: Server;
let metadataUrl = "";
let proxy: ForwardProxy;
let running: InProcess;

beforeAll(async () => {
  inside = createServer((_, response) => void response.end("{}"));
  inside.on("connection", () => hits++);
  // On all addresses of this machine: IPv6 addresses must be refused, not only unreachable.
  inside.listen(0);
  server = createServer((_, response) => {
    const headers = { "www-authenticate": `Bearer resource_metadata="${metadataUrl}"` };
    response.writeHead(401, headers).end();
  });
  server.listen(0, "127.0.0.1");
  await Promise.all([once(inside, "listening"), once(server, "listening")]);
  insidePort = (inside.address() as AddressInfo).port;
  proxy = await startProxy();
  const { port } = server.address() as AddressInfo;
  running = await openInProcess(
    {
      public: { url: `http://mcp.example.com:${port}/mcp`, proxy: proxy.url },
      known: { url: `http://127.0.0.1:${port}/mcp` },
    },
    { lookup },
  );
  running.hub.logins.baseUrl = { url: "http://127.0.0.1:7777" };
});

beforeEach(() => {
  hits = 0;
});

afterAll(async () => {
  expect(await running.end()).toEqual([]);
  await proxy.stop();
  for (const each of [inside, server]) {
    each.close();
    each.closeAllConnections();
  }
});

const loginAt = (name: string) => {
  const { config } = running.hub.supervisor.get(name);
  return running.hub.logins.begin(config).then(
    () => "begun",
    (error: { kind: string }) => error.kind,
  );
};

it.each([
  "http://127.0.0.1",
  "http://localhost",
  "http://[::1]",
  "http://[::ffff:127.0.0.1]",
  "http://0x7f.1",
  "http://2130706433",
  "https://127.0.0.1",
  "https://inside.example.com",
  "https://intranet.example.com",
  "https://169.254.169.254",
])("A07 AU-1 metadata of a public server at %s is not read", async (origin) => {
  metadataUrl = `${origin}:${insidePort}/metadata`;
  expect(await loginAt("public")).toBe("UnsafeAddress");
  expect(proxy.log.length).toBeGreaterThan(0);
  expect(hits).toBe(0);
});

it("A07 AU-1 the same address is read for a server on this machine", async () => {
  metadataUrl = `http://127.0.0.1:${insidePort}/metadata`;
  // The document is empty: it is refused for what it says, not for where it is.
  expect(await loginAt("known")).toBe("ProtocolError");
  expect(hits).toBeGreaterThan(0);
});
