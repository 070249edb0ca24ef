// F27: faults of TLS. The certificates are created for the run with openssl.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerOptions } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import { startProxy } from "../support/forward-proxy.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { family, requireSeen } from "./rows.ts";
import { Upstream } from "./scenario.ts";
import { listen, portOf } from "../support/sockets.ts";

const dir = mkdtempSync(join(tmpdir(), "plugboard-tls-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Whether the command succeeded. */
function openssl(...args: string[]): boolean {
  return spawnSync("openssl", args, { cwd: dir }).status === 0;
}

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

function makeCertificate(
  name: string,
  { host, days = "2", ca = "ca" }: { host: string; days?: string; ca?: string },
): boolean {
  writeFileSync(join(dir, `${name}.ext`), `subjectAltName=${host}`);
  const signed = [
    "-CA",
    `${ca}.pem`,
    "-CAkey",
    `${ca}.key`,
    "-CAcreateserial",
    "-extfile",
    `${name}.ext`,
    "-days",
    days,
  ];
  return (
    openssl("req", ...KEY, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", "/CN=test") &&
    openssl("x509", "-req", "-in", `${name}.csr`, "-out", `${name}.pem`, ...signed)
  );
}

const HERE = "IP:127.0.0.1";
const makeAuthority = (name: string) =>
  openssl(
    "req",
    "-x509",
    ...KEY,
    "-keyout",
    `${name}.key`,
    "-out",
    `${name}.pem`,
    "-days",
    "2",
    "-subj",
    `/CN=${name}`,
  );
const canMake =
  makeAuthority("ca") &&
  makeAuthority("other-ca") &&
  makeCertificate("foreign", { host: HERE, ca: "other-ca" }) &&
  makeCertificate("good", { host: HERE }) &&
  makeCertificate("elsewhere", { host: "DNS:elsewhere.example" }) &&
  openssl("req", "-x509", ...KEY, "-keyout", "own.key", "-out", "own.pem", "-days", "2", "-subj", "/CN=127.0.0.1");
/** Newer versions of openssl refuse to create an expired certificate. */
const canExpire = canMake && makeCertificate("expired", { host: HERE, days: "-1" });
if (!canMake) process.stderr.write("F27 is skipped: it needs openssl (apt-get install -y openssl)\n");

family(
  "TLS before a server",
  ({ hub }) => {
    const tls = (name: string) => ({ key: join(dir, `${name}.key`), cert: join(dir, `${name}.pem`) });

    it.runIf(canMake)("F27 a certificate of a trusted authority is accepted", async () => {
      const { name } = await hub().add({ transport: "http", tls: tls("good") });
      requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
    });

    it.runIf(canMake).each([
      ["for another host", "elsewhere", "ERR_TLS_CERT_ALTNAME_INVALID", /another host name/, /"servername"/, true],
      ["signed by itself", "own", "DEPTH_ZERO_SELF_SIGNED_CERT", /self-signed/, /"ca".*NODE_EXTRA_CA_CERTS/, true],
      ["of an unknown authority", "foreign", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", /does not trust/, /"ca"/, true],
      ["that has ended", "expired", "CERT_HAS_EXPIRED", /has expired/, /clock/, canExpire],
    ])(
      "F27 a certificate %s is refused, and what helps is named",
      async (_, certificate, cause, said, help, possible) => {
        if (!possible) return;
        const { name, up } = await hub().add({ transport: "http", tls: tls(certificate) });
        const { status, error } = await hub().server(name);
        expect([status, error]).toMatchObject(["error", { code: "NETWORK_ERROR", detail: cause }]);
        expect([error.message, error.hint]).toEqual([expect.stringMatching(said), expect.stringMatching(help)]);
        expect(up.count("heard")).toBe(0);
      },
    );

    it.runIf(canMake)(
      "a server with its own authority, over HTTP and WebSocket; a missing file is reported",
      async () => {
        const ca = join(dir, "other-ca.pem");
        const { name } = await hub().add({ transport: "http", tls: tls("foreign") }, { ca });
        requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
        const socket = hub().nextName();
        await hub().addEntry(socket, { url: await serveWebSocket("foreign", []), tls: { ca } });
        await hub().untilState(socket, "running");
        expect((await hub().server(socket)).config.tls).toEqual({ ca });
        const absent = await hub().add(
          { transport: "http", tls: tls("foreign") },
          { tls: { ca: join(dir, "absent.pem") } },
        );
        expect((await hub().server(absent.name)).error).toMatchObject({ code: "VALIDATION_ERROR", field: "tls.ca" });
        await hub().remove(socket);
      },
    );

    it.runIf(canMake)("a server name for the certificate that differs from the address", async () => {
      const servername = "elsewhere.example";
      const { name } = await hub().add({ transport: "http", tls: tls("elsewhere") }, { tls: { servername } });
      requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
    });

    it.runIf(canMake)("a client certificate, over HTTP and WebSocket", async () => {
      const asking = {
        ...tls("good"),
        requestCert: true,
        rejectUnauthorized: true,
        ca: readFileSync(join(dir, "other-ca.pem"), "utf8"),
      };
      const without = await hub().add({ transport: "http", tls: asking });
      expect((await hub().server(without.name)).error).toMatchObject({ code: "NETWORK_ERROR" });
      const { name, up } = await hub().add({ transport: "http", tls: asking }, { tls: tls("foreign") });
      requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
      expect(up.count("heard")).toBeGreaterThan(0);
      const [refused, accepted] = [hub().nextName(), hub().nextName()];
      const url = await serveWebSocket("good", [], asking);
      await hub().addEntry(refused, { url });
      expect((await hub().passed(refused, "error")).error).toMatchObject({ code: "NETWORK_ERROR" });
      await hub().addEntry(accepted, { url, tls: tls("foreign") });
      await hub().untilState(accepted, "running");
      for (const each of [refused, accepted]) await hub().remove(each);
    });

    it.runIf(canMake)("through a proxy: the certificate is checked inside the tunnel", async () => {
      const proxy = await startProxy();
      const up = new Upstream(hub().home.dir, { transport: "http", tls: tls("elsewhere") });
      const url = (await up.listen()).replace("127.0.0.1", "elsewhere.example");
      const [good, bad, socket] = [hub().nextName(), hub().nextName(), hub().nextName()];
      hub().added.set(good, up);
      await hub().addEntry(good, { url, proxy: proxy.url });
      await hub().untilState(good, "running");
      requireSeen(await hub().call(good, "act", { id: "x1" }), "answer");
      await hub().addEntry(bad, { url: url.replace("elsewhere.example", "nowhere.example"), proxy: proxy.url });
      expect((await hub().passed(bad, "error")).error).toMatchObject({ detail: "ERR_TLS_CERT_ALTNAME_INVALID" });
      const address = (await serveWebSocket("elsewhere", [])).replace("127.0.0.1", "elsewhere.example");
      await hub().addEntry(socket, { url: address, proxy: proxy.url });
      await hub().untilState(socket, "running");
      expect(proxy.log).toContainEqual(expect.stringMatching(/^CONNECT elsewhere\.example:/));
      for (const name of [good, bad, socket]) await hub().remove(name);
      await proxy.stop();
    });

    /** A legacy server over WebSocket with TLS. Returns its address. */
    async function serveWebSocket(certificate: string, heard: string[], options: ServerOptions = {}): Promise<string> {
      const { key, cert } = tls(certificate);
      const https = createServer({ ...options, key: readFileSync(key), cert: readFileSync(cert) });
      const sockets = new WebSocketServer({ server: https });
      sockets.on("connection", (socket) =>
        socket.on("message", (data: Buffer) => {
          const { id, method } = JSON.parse(data.toString());
          heard.push(method);
          const result =
            method === "initialize"
              ? { protocolVersion: "2025-11-25", capabilities: { tools: {} } }
              : {
                  tools: [{ name: "act", inputSchema: { type: "object" } }],
                  content: [{ type: "text", text: "act x1" }],
                };
          const error = { code: -32601, message: "no such method" };
          const reply = method === "server/discover" ? { error } : { result };
          if (id !== undefined) socket.send(JSON.stringify({ jsonrpc: "2.0", id, ...reply }));
        }),
      );
      await listen(https);
      onTestFinished(() => {
        for (const socket of sockets.clients) socket.terminate();
        https.close();
      });
      return `wss://127.0.0.1:${portOf(https)}/mcp`;
    }

    it.runIf(canMake)("F27 CL-7 a WebSocket certificate of a trusted authority is accepted", async () => {
      const heard: string[] = [];
      const name = hub().nextName();
      await hub().addEntry(name, { url: await serveWebSocket("good", heard) });
      await hub().untilState(name, "running");
      requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
      expect(heard).toContain("tools/call");
      await hub().remove(name);
    });

    it.runIf(canMake).each([
      ["for another host", "elsewhere", "ERR_TLS_CERT_ALTNAME_INVALID"],
      ["signed by itself", "own", "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ])("F27 CL-7 a WebSocket's certificate %s is refused, and the cause is named", async (_, certificate, cause) => {
      const heard: string[] = [];
      const name = hub().nextName();
      await hub().addEntry(name, { url: await serveWebSocket(certificate, heard) });
      const { error } = await hub().passed(name, "error");
      expect(error).toMatchObject({ code: "NETWORK_ERROR", detail: cause, hint: expect.stringMatching(/"tls"/) });
      expect(heard).toEqual([]);
      await hub().remove(name);
    });

    it.runIf(canMake)("F27 a server limited to TLS 1.1 is refused", async () => {
      const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" };
      const { name, up } = await hub().add({ transport: "http", tls: { ...tls("good"), ...old } });
      expect((await hub().server(name)).error).toMatchObject({ code: "NETWORK_ERROR" });
      expect(up.count("heard")).toBe(0);
    });

    it.runIf(canMake)("F27 a connection that is cut in the handshake, at any byte", async () => {
      const up = new Upstream(hub().home.dir, { transport: "http", tls: tls("good") });
      const url = await up.listen();
      const proxy = await FaultProxy.open(Number(new URL(url).port));
      for (const resetAfterBytes of [0, 1, 5, 100, 700]) {
        proxy.set({ down: { resetAfterBytes } });
        const name = hub().nextName();
        await hub().addEntry(name, { url: proxy.through(url) });
        expect((await hub().passed(name, "error")).error).toMatchObject({ code: "NETWORK_ERROR" });
      }
      // No retry in plain text.
      expect(up.count("heard")).toBe(0);
      await up.stop();
      await proxy.close();
    });

    it("F27 a plain server where TLS is expected", async () => {
      const up = new Upstream(hub().home.dir, { transport: "http" });
      const url = await up.listen();
      const name = hub().nextName();
      hub().added.set(name, up);
      await hub().addEntry(name, { url: url.replace("http:", "https:") });
      expect((await hub().passed(name, "error")).error).toMatchObject({ code: "NETWORK_ERROR" });
      expect(up.count("heard")).toBe(0);
    });
  },
  { env: { NODE_EXTRA_CA_CERTS: join(dir, "ca.pem") } },
);
