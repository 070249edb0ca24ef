// The examples of docs/access.md for proxies that end TLS, with the real programs before a real hub: calls, streams, WebSockets, and
// the address of the client.

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import type { HubClient } from "../../hub/src/api/client/client.ts";
import { makeCertificate } from "../support/certificates.ts";
import { clientOf } from "../support/client.ts";
import { makeHome, published, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { freePort } from "../support/sockets.ts";

const DOCS = join(import.meta.dirname, "../../docs/access.md");
const HOST = "hub.example.com";
/** Another address of this machine than that of the proxy. */
const CLIENT = "127.0.0.2";

interface Place {
  readonly dir: string;
  readonly port: number;
  readonly hubPort: number;
  readonly cert: string;
  readonly key: string;
}

interface Proxy {
  readonly name: string;
  /** A line of its example. */
  readonly mark: string;
  readonly packageName: string;
  readonly isThere: boolean;
  /** The example with the ports and files of the test, and what a whole file needs besides. */
  complete(example: string, place: Place): string;
  run(path: string, place: Place): ChildProcess;
}

function hasProgram(name: string): boolean {
  return spawnSync(name, ["-v"]).error === undefined;
}

/** Replaces a text that must be there: the example may have changed. */
function replaced(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((before, [from, to]) => {
    expect(before).toContain(from);
    return before.replaceAll(from, to);
  }, text);
}

const NGINX = "/usr/sbin/nginx";

const PROXIES: readonly Proxy[] = [
  {
    name: "nginx",
    mark: "proxy_pass",
    packageName: "nginx-light",
    isThere: hasProgram(NGINX),
    complete: (example, { dir, port, hubPort, cert, key }) => {
      const server = replaced(example, {
        "listen 443 ssl": `listen 127.0.0.1:${port} ssl`,
        "127.0.0.1:7430": `127.0.0.1:${hubPort}`,
        "/etc/letsencrypt/live/hub.example.com/fullchain.pem": cert,
        "/etc/letsencrypt/live/hub.example.com/privkey.pem": key,
      });
      const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (each) => `${each}_temp_path ${dir}/${each};`,
      );
      const user = process.getuid?.() === 0 ? "user root;" : "";
      return `${user} daemon off; pid ${dir}/pid; events {} http { access_log off; ${folders.join(" ")}\n${server}\n}\n`;
    },
    run: (path, { dir }) => spawn(NGINX, ["-p", dir, "-e", join(dir, "error.log"), "-c", path], { stdio: "ignore" }),
  },
  {
    name: "Caddy",
    mark: "reverse_proxy",
    packageName: "caddy",
    isThere: hasProgram("caddy"),
    complete: (example, { port, hubPort, cert, key }) => {
      const site = replaced(example, {
        [`${HOST} {`]: `https://${HOST}:${port} {\n\tbind 127.0.0.1\n\ttls ${cert} ${key}`,
        "127.0.0.1:7430": `127.0.0.1:${hubPort}`,
      });
      return `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`;
    },
    run: (path, { dir }) =>
      spawn("caddy", ["run", "--config", path, "--adapter", "caddyfile"], {
        stdio: "ignore",
        env: { ...process.env, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir },
      }),
  },
];

async function exampleWith(mark: string): Promise<string> {
  const blocks = (await readFile(DOCS, "utf8")).matchAll(/```text\n([^`]*)```/g);
  const [example = "", ...others] = [...blocks].map(([, text = ""]) => text).filter((text) => text.includes(mark));
  expect([others, example]).toEqual([[], expect.stringContaining(HOST)]);
  return example;
}

/** Resolves when something accepts connections. */
async function untilOpen(port: number): Promise<void> {
  for (;;) {
    const socket = connectTls({ host: "127.0.0.1", port, rejectUnauthorized: false });
    const opened = once(socket, "secureConnect").then(
      () => true,
      () => false,
    );
    const isOpen = await opened;
    socket.destroy();
    if (isOpen) return;
  }
}

describe.each(PROXIES)("AU-6 behind $name", (proxy) => {
  const missing = proxy.isThere ? "" : `; to run it: apt-get install -y --no-install-recommends ${proxy.packageName}`;

  describe.skipIf(!proxy.isThere)(`with the example of the docs${missing}`, () => {
    let home: Home;
    let hub: RunningHub;
    let client: HubClient;
    let child: ChildProcess;
    let ca: Buffer;
    let port: number;
    let token: string;

    beforeAll(async () => {
      home = await makeHome({ it: published("server-everything") });
      const dir = join(home.dir, "proxy");
      await mkdir(dir);
      const { cert, key } = await makeCertificate(dir);
      ca = await readFile(cert);
      const settings = {
        listen: { admin: "loopback" },
        public_url: `https://${HOST}`,
        trusted_proxies: ["127.0.0.1"],
        auth: { mcp: "required" },
      };
      await writeFile(join(home.dir, "config/hub.json"), JSON.stringify(settings));
      hub = await startHub(home);
      const { listen } = JSON.parse(await readFile(join(home.dir, "state/hub.json"), "utf8"));
      client = await clientOf(hub);
      ({ token } = await client.tokens.create({ name: "colleague" }));
      port = await freePort();
      const place = { dir, port, hubPort: listen.port, cert, key };
      const path = join(dir, "config");
      await writeFile(path, proxy.complete(await exampleWith(proxy.mark), place));
      child = proxy.run(path, place);
      const ended = once(child, "exit").then(async ([code]) => {
        const log = await readFile(join(dir, "error.log"), "utf8").catch(() => "");
        throw new Error(`${proxy.name} ended with ${code}: ${log}`);
      });
      await Promise.race([untilOpen(port), ended]);
      ended.catch(() => undefined);
    });

    afterAll(async () => {
      if (child?.exitCode === null && child.kill("SIGTERM")) await once(child, "exit");
      await hub?.stop();
      await home?.remove();
    });

    /** A request of a client elsewhere. */
    async function send(
      method: string,
      params: object,
      headers: Record<string, string> = {},
    ): Promise<IncomingMessage> {
      const meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
      };
      const { name, _meta, ...rest } = params as { name?: string; _meta?: object };
      const all = { ...rest, ...(name === undefined ? {} : { name }), _meta: { ...meta, ..._meta } };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: all });
      const asked = request({
        host: "127.0.0.1",
        port,
        servername: HOST,
        ca,
        localAddress: CLIENT,
        path: "/mcp",
        method: "POST",
        agent: false,
        headers: {
          host: HOST,
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method,
          ...(name === undefined ? {} : { "mcp-name": name }),
          ...headers,
        },
      });
      asked.end(body);
      const [response] = (await once(asked, "response")) as [IncomingMessage];
      return response;
    }

    async function textOf(response: IncomingMessage): Promise<string> {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      return Buffer.concat(chunks).toString();
    }

    it("a call is answered, and the hub knows the address of the client", async () => {
      const response = await send("tools/call", { name: "echo", arguments: { message: "over TLS" } });
      expect([response.statusCode, await textOf(response)]).toEqual([200, expect.stringContaining("over TLS")]);
      const [used] = await client.tokens.list();
      expect(used).toMatchObject({ name: "colleague", used_from: CLIENT });
      const forged = await send(
        "tools/list",
        {},
        { "x-forwarded-for": "192.0.2.1", "x-forwarded-host": "evil.example" },
      );
      expect(forged.statusCode).toBe(200);
      expect((await client.tokens.list())[0]).toMatchObject({ used_from: CLIENT });
      await textOf(forged);
    });

    it("a call without a token is refused, and a large one is answered", async () => {
      const refused = await send("tools/list", {}, { authorization: "Bearer wrong" });
      expect([refused.statusCode, refused.headers["strict-transport-security"]]).toEqual([401, expect.any(String)]);
      await textOf(refused);
      const message = "x".repeat(3 << 20);
      const large = await send("tools/call", { name: "echo", arguments: { message } });
      expect([large.statusCode, (await textOf(large)).includes(message)]).toEqual([200, true]);
    });

    it("progress arrives while the call runs", async () => {
      const response = await send("tools/call", {
        name: "trigger-long-running-operation",
        arguments: { duration: 120, steps: 240 },
        _meta: { progressToken: "p" },
      });
      onTestFinished(() => void response.destroy());
      expect(response.headers["content-type"]).toBe("text/event-stream");
      const [chunk] = (await once(response, "data")) as [Buffer];
      expect(chunk.toString()).toContain("notifications/progress");
      expect((await client.calls.active()).length).toBe(1);
      response.destroy();
      // The proxy tells the hub that the client has gone.
      await expect.poll(async () => (await client.calls.active()).length, { timeout: 20_000 }).toBe(0);
    });

    it("a WebSocket carries a session", async () => {
      const headers = { host: HOST, authorization: `Bearer ${token}` };
      const options = { ca, servername: HOST, headers };
      const socket = new WebSocket(`wss://127.0.0.1:${port}/mcp`, "mcp", options);
      onTestFinished(() => socket.terminate());
      await once(socket, "open");
      const clientInfo = { name: "test", version: "1" };
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }));
      const [data] = await once(socket, "message");
      expect(JSON.parse(String(data))).toMatchObject({ id: 1, result: { protocolVersion: "2025-11-25" } });
    });
  });
});
