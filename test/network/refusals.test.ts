// Settings with which a hub that others can reach must not start. Each is tried alone, on a real process: it exits, has opened no
// port and has started no server.

import { existsSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeCertificate } from "../support/certificates.ts";
import { listen } from "../support/sockets.ts";
import { fixture, makeHome, plugboard, startHub, type Home } from "../support/hub.ts";

let home: Home;
let tls: { cert: string; key: string };
let safe: Record<string, unknown>;
let started: string;
/** Has the port: a hub that tried to open it would fail with another exit code. */
const blocker = createServer();
let port: number;

beforeAll(async () => {
  home = await makeHome(undefined);
  started = join(home.dir, "started");
  await writeFile(
    join(home.dir, "config/mcp_server.json"),
    JSON.stringify({ mcpServers: { it: fixture("exits-on-probe", started) } }),
  );
  port = await listen(blocker);
  tls = await makeCertificate(home.dir);
  safe = {
    listen: { host: "0.0.0.0" },
    public_url: "https://hub.example.com",
    auth: { mcp: "required" },
    tls,
    trusted_proxies: ["10.0.0.2"],
  };
});

afterAll(async () => {
  blocker.close();
  await home.remove();
});

async function up(settings: Record<string, unknown>, env: Record<string, string> = {}) {
  await writeFile(join(home.dir, "config/hub.json"), JSON.stringify(settings));
  return plugboard({ ...home, env: { ...home.env, ...env } }, ["up", "--port", String(port)]);
}

describe("a hub that others can reach", () => {
  const without = (...names: string[]) =>
    Object.fromEntries(Object.entries(safe).filter(([name]) => !names.includes(name)));

  it.each<[string, string, () => Promise<Record<string, unknown>> | Record<string, unknown>, RegExp]>([
    ["1", "auth.mcp", () => without("auth"), /open to everybody[^]*"auth": \{ "mcp": "required" \}/],
    ["2", "public_url", () => without("public_url"), /public_url is not set[^]*"public_url": "https:/],
    ["3", "public_url", () => ({ ...safe, public_url: "http://hub.example.com" }), /is http[^]*--insecure-http/],
    ["4", "tls", () => without("tls", "trusted_proxies"), /neither tls nor trusted_proxies[^]*"trusted_proxies": \[/],
    ["5", "trusted_proxies", () => ({ ...safe, trusted_proxies: ["0.0.0.0/0"] }), /all addresses/],
    ["5, IPv6", "trusted_proxies", () => ({ ...safe, trusted_proxies: ["::/0"] }), /all addresses/],
    [
      "6, open key",
      "tls.key",
      async () => {
        const open = await makeCertificate(home.dir, { name: "open" });
        await chmod(open.key, 0o644);
        return { ...safe, tls: open };
      },
      /open to other users[^]*chmod 600/,
    ],
    [
      "6, another key",
      "tls.key",
      async () => ({ ...safe, tls: { ...tls, key: (await makeCertificate(home.dir, { name: "other" })).key } }),
      /does not belong to the certificate/,
    ],
    [
      "6, another host",
      "tls.cert",
      () => ({ ...safe, public_url: "https://hub.example.org" }),
      /is not for hub\.example\.org/,
    ],
    [
      "6, expired",
      "tls.cert",
      async () => ({ ...safe, tls: await makeCertificate(home.dir, { name: "old", days: -1 }) }),
      /expired on/,
    ],
    [
      "8",
      "auth.issuers",
      () => ({ ...safe, auth: { mcp: "required", issuers: [{ issuer: "http://idp.example.com" }] } }),
      /issuer http:\/\/idp\.example\.com/,
    ],
    ["7", "allowed_hosts", () => ({ ...safe, allowed_hosts: ["*.example.com"] }), /allowed_hosts has a \*/],
  ])("A29 T38 AU-6 rule %s: is refused because of %s", async (_, setting, settings, message) => {
    const { code, stdout, stderr } = await up(await settings());
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Refused to listen on 0.0.0.0");
    expect(stderr).toContain(setting);
    expect(stderr).toMatch(message);
    expect(existsSync(started)).toBe(false);
  });

  it("A29 T38 AU-6 rule 9: is refused if others can read the key of the secrets", async () => {
    const file = join(home.dir, "secret.key");
    await writeFile(file, "ab".repeat(32), { mode: 0o640 });
    await chmod(file, 0o640);
    const given = await up(safe, { PLUGBOARD_SECRET_KEY_FILE: file });
    expect(given).toMatchObject({ code: 2, stderr: expect.stringMatching(/secret\.key, is open[^]*chmod 600/) });
    const secrets = join(home.dir, "data/secrets");
    await mkdir(secrets, { recursive: true, mode: 0o700 });
    await writeFile(join(secrets, "master.key"), `${"ab".repeat(32)}\n`, { mode: 0o644 });
    await chmod(join(secrets, "master.key"), 0o644);
    expect(await up(safe)).toMatchObject({ code: 2, stderr: expect.stringMatching(/master\.key, is open/) });
    await chmod(join(secrets, "master.key"), 0o600);
    expect(existsSync(started)).toBe(false);
  });

  it("A29 names everything that is wrong at once", async () => {
    const { code, stderr } = await up({ listen: { host: "0.0.0.0" } });
    expect(code).toBe(2);
    for (const what of ["open to everybody", "public_url is not set", "neither tls nor trusted_proxies"])
      expect(stderr).toContain(what);
  });

  it("A29 a hub on loopback with a public address is refused while its endpoints are open", async () => {
    const settings = { public_url: "https://hub.example.com" };
    expect(await up(settings)).toMatchObject({ code: 2, stderr: expect.stringContaining("open to everybody") });
  });

  it("A29 AU-6 --insecure-http allows a public_url that is http, and the status says so", async () => {
    const plain = { ...without("tls", "trusted_proxies"), public_url: "http://hub.example.com" };
    await writeFile(join(home.dir, "config/hub.json"), JSON.stringify(plain));
    const hub = await startHub(home, { ready: false, args: ["--insecure-http"] });
    try {
      const { stdout } = await plugboard(home, ["status"]);
      expect(stdout).toContain("Credentials travel without encryption");
    } finally {
      await hub.stop();
    }
  });

  it("A29 control: the same settings without a fault start", async () => {
    await writeFile(join(home.dir, "config/hub.json"), JSON.stringify(safe));
    const hub = await startHub(home, { ready: false });
    expect(hub.stdout()).toContain("MCP     https://hub.example.com/mcp");
    expect(await hub.stop()).toBe(0);
  });
});
