// `plugboard auth`, with the built command, a real authorization server and a protected server: with and without a running hub.

import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { launch, makeHome, plugboard, seenInStderr, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { startAuthorizationServer, type AuthorizationServer } from "../support/oauth/authorization-server.ts";
import { Browser } from "../support/oauth/browser.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";
import { freePort, listen } from "../support/sockets.ts";
import { noTerminal, onTerminal } from "../support/terminal.ts";

const DEVICE = {
  client_id: "device",
  client_secret: "device-secret-0123456789",
  grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
  redirect_uris: [],
  response_types: [],
} as const;

let issuer: AuthorizationServer;
let server: ProtectedServer;

beforeAll(async () => {
  issuer = await startAuthorizationServer({
    clients: [{ ...DEVICE, grant_types: [...DEVICE.grant_types], redirect_uris: [], response_types: [] }],
  });
  server = await ProtectedServer.open([issuer.issuer]);
  issuer.settings.resources.set(server.url, server.allScopes);
});

afterAll(async () => {
  await server.close();
  await issuer.close();
});

let home: Home | undefined;
let hub: RunningHub | undefined;

afterEach(async () => {
  expect(await hub?.stop()).toBe(hub === undefined ? undefined : 0);
  await home?.remove();
  [home, hub] = [undefined, undefined];
  issuer.settings.decision = "accept";
  issuer.settings.refreshTokens = true;
  issuer.front.heal();
});

async function makeOwnHome(): Promise<Home> {
  return (home = await makeHome({ notes: { url: server.url } }));
}

const ADDRESS = /^ {2}(http\S+)$/m;

/** A program in the place of xdg-open that writes down its arguments. */
async function recordingOpener(of: Home): Promise<{ readonly PATH: string; readonly opened: () => Promise<string> }> {
  const folder = join(of.dir, "bin");
  const record = join(of.dir, "opened");
  await mkdir(folder);
  await writeFile(
    join(folder, "xdg-open"),
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${record}.new' && mv '${record}.new' '${record}'\n`,
  );
  await chmod(join(folder, "xdg-open"), 0o755);
  return { PATH: `${folder}:${of.env["PATH"] ?? ""}`, opened: () => readFile(record, "utf8").catch(() => "") };
}

describe.each(["with a running hub", "without a hub"])("AU-1 AU-2 plugboard auth %s", (how) => {
  /** A home, with a hub or a free port for the command's own. */
  async function prepare(): Promise<{ own: Home; port: string[] }> {
    const own = await makeOwnHome();
    if (how === "with a running hub") hub = await startHub(own);
    return { own, port: ["--port", String(await freePort())] };
  }

  it("prints the address, waits for the browser, and says as whom it is connected", async () => {
    const { own, port } = await prepare();
    const command = launch(own, ["auth", "notes", "--no-browser", ...port]);
    await new Browser().open(await seenInStderr(command, ADDRESS));
    const { code, stdout } = await command.finished;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^notes: connected( as \S+)?, 3 tools\n$/)]);
    const listed = await plugboard(own, ["auth"]);
    expect(listed.stdout).toMatch(
      /^SERVER +STATE +ACCOUNT +SCOPES +EXPIRES +RENEWED\nnotes +connected +\S+ +mcp.* in 59m +\d+s ago\n$/,
    );
  });

  it("--json has the login and no token", async () => {
    const { own, port } = await prepare();
    const command = launch(own, ["auth", "notes", "--no-browser", "--json", ...port]);
    await new Browser().open(await seenInStderr(command, ADDRESS));
    const { code, stdout } = await command.finished;
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      {
        server: "notes",
        status: "running",
        tool_count: 3,
        login: { state: "connected", issuer: issuer.issuer, renewable: true },
      },
    ]);
    expect(stdout).not.toMatch(/"(access|refresh|access_token|refresh_token|code)"/);
  });

  it("a refusal ends it with exit code 3", async () => {
    const { own, port } = await prepare();
    issuer.settings.decision = "deny";
    const command = launch(own, ["auth", "notes", "--no-browser", ...port]);
    await new Browser().open(await seenInStderr(command, ADDRESS));
    const { code, stdout, stderr } = await command.finished;
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(/error: The login was declined/);
  });

  it("nobody comes: exit code 3 after --timeout", async () => {
    const { own, port } = await prepare();
    const { code, stderr } = await plugboard(own, ["auth", "notes", "--no-browser", "--timeout", "2", ...port]);
    expect(code).toBe(3);
    expect(stderr).toContain("was not finished within 2s");
  });

  it("an authorization server that is down: exit code 4", async () => {
    const { own, port } = await prepare();
    issuer.front.fail("token", { do: "reset" });
    const command = launch(own, ["auth", "notes", "--no-browser", ...port]);
    await new Browser().open(await seenInStderr(command, ADDRESS));
    expect((await command.finished).code).toBe(4);
  });

  it("Ctrl-C: exit code 130, and the login is cancelled", async () => {
    const { own, port } = await prepare();
    const command = launch(own, ["auth", "notes", "--no-browser", ...port]);
    const address = await seenInStderr(command, ADDRESS);
    command.process.kill("SIGINT");
    expect((await command.finished).code).toBe(130);
    if (hub !== undefined) expect((await new Browser().open(address)).status).toBe(400);
  });

  it("a login without a refresh token warns at once that it must be repeated", async () => {
    const { own, port } = await prepare();
    issuer.settings.refreshTokens = false;
    const command = launch(own, ["auth", "notes", "--no-browser", ...port]);
    await new Browser().open(await seenInStderr(command, ADDRESS));
    const { code, stderr } = await command.finished;
    expect([code, stderr]).toEqual([0, expect.stringMatching(/warning: The login at notes has to be repeated in 59m/)]);
  });

  it("--device shows a code, and waits until it is entered", async () => {
    const { own, port } = await prepare();
    const secret = ["--client-id", DEVICE.client_id, "--client-secret-stdin"];
    const command = launch(own, ["auth", "notes", "--device", ...secret, ...port]);
    command.process.stdin.end(`${DEVICE.client_secret}\n`);
    const browser = new Browser();
    const form = await browser.open(await seenInStderr(command, ADDRESS));
    const confirm = await browser.submit(form);
    if (confirm.text.includes("<form")) await browser.submit(confirm, { confirm: "yes" });
    const { code, stdout, stderr } = await command.finished;
    expect([code, stdout, stderr]).toEqual([
      0,
      expect.stringContaining("notes: connected"),
      expect.stringMatching(/^Code: \S+$/m),
    ]);
    expect(stderr + stdout).not.toContain(DEVICE.client_secret);
  });

  it("refresh, show and logout", async () => {
    const { own, port } = await prepare();
    const none = await plugboard(own, ["auth", "refresh", "notes"]);
    expect([none.code, none.stderr]).toEqual([3, expect.stringContaining("fix:   plugboard auth notes")]);
    const command = launch(own, ["auth", "notes", "--no-browser", ...port]);
    await new Browser().open(await seenInStderr(command, ADDRESS));
    expect((await command.finished).code).toBe(0);
    expect((await plugboard(own, ["auth", "refresh", "notes"])).stdout).toMatch(/^notes: renewed, expires in 59m\n$/);
    const shown = await plugboard(own, ["auth", "show", "notes"]);
    expect(shown.stdout).toMatch(new RegExp(`^issuer +${issuer.issuer}$`, "m"));
    expect(shown.stdout).toMatch(/^client +registered by the hub$/m);
    expect((await plugboard(own, ["auth", "logout", "notes"])).stdout).toBe("notes: logged out\n");
    expect((await plugboard(own, ["auth", "logout", "notes"])).stdout).toBe("notes: there was no login\n");
    expect((await plugboard(own, ["auth"])).stderr).toContain("No logins");
  });

  it.skipIf(noTerminal !== undefined)("over SSH, the address of the last page can be pasted", async () => {
    const { own, port } = await prepare();
    let address = "";
    const { code, screen } = await onTerminal(own, ["auth", "notes", ...port], {
      env: { SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22" },
      columns: 2000,
      type: {
        after: /Address: /,
        keys: async (text) => {
          const shown = ADDRESS.exec(text.replaceAll("\r", ""))?.[1] ?? "";
          ({ url: address } = await new Browser().open(shown, ({ pathname }) => pathname === "/oauth/callback"));
          return `${address}\r`;
        },
      },
    });
    expect([code, screen]).toEqual([0, expect.stringMatching(/notes: connected.*3 tools/)]);
  });
});

describe("AU-1 plugboard auth and the browser", () => {
  it.each<[string, Record<string, string>, readonly string[], boolean]>([
    ["with a screen", { DISPLAY: ":0" }, [], true],
    ["with Wayland", { WAYLAND_DISPLAY: "wayland-0" }, [], true],
    ["without a screen", {}, [], false],
    ["over SSH", { DISPLAY: ":0", SSH_CONNECTION: "1 2 3 4" }, [], false],
    ["with --no-browser", { DISPLAY: ":0" }, ["--no-browser"], false],
  ])("A08 %s: the browser gets the address as one argument, or is not opened", async (_, env, args, isOpened) => {
    const own = await makeOwnHome();
    hub = await startHub(own);
    const { PATH, opened } = await recordingOpener(own);
    const command = launch(own, ["auth", "notes", ...args], { PATH, ...env });
    const address = await seenInStderr(command, ADDRESS);
    if (isOpened) await expect.poll(opened).toBe(`${address}\n`);
    await new Browser().open(address);
    expect((await command.finished).code).toBe(0);
    if (!isOpened) expect(await opened()).toBe("");
  });

  it.each([
    "javascript:alert(1)",
    "file:///etc/passwd",
    "http://example.com/$(id)",
    "--help",
    "https://a b.example/",
    "https://user:password@example.com/",
    `https://example.com/${"a".repeat(10_000)}`,
  ])("A08 an authorization endpoint %.40s is refused, and no program is started", async (endpoint) => {
    const own = await makeOwnHome();
    const { PATH, opened } = await recordingOpener(own);
    issuer.front.change("metadata", (document) => ({ ...document, authorization_endpoint: endpoint }));
    const { code, stderr } = await plugboard(own, ["auth", "notes", "--port", "0"], { env: { PATH, DISPLAY: ":0" } });
    expect([code, stderr]).toEqual([2, expect.stringContaining("authorization_endpoint")]);
    expect(stderr).not.toContain("Log in to");
    expect(await opened()).toBe("");
  });

  it("without a browser, a server that offers codes is used with a code", async () => {
    const own = await makeOwnHome();
    hub = await startHub(own);
    const command = launch(own, ["auth", "notes", "--client-id", DEVICE.client_id, "--client-secret-stdin"]);
    command.process.stdin.end(DEVICE.client_secret);
    await seenInStderr(command, /^(Code: \S+)$/m);
    command.process.kill("SIGINT");
    expect((await command.finished).code).toBe(130);
  });
});

describe("A31 another program where the hub should be", () => {
  it("a program at the hub's address gets nothing", async () => {
    const own = await makeOwnHome();
    hub = await startHub(own);
    const record = join(own.dir, "state/hub.json");
    const real = await readFile(record, "utf8");
    const asked: string[] = [];
    const other = createServer(({ url = "" }, response) => {
      asked.push(url);
      response.end("{}");
    });
    const port = await listen(other);
    await writeFile(record, real.replace(/http:[^"]+/, `http://127.0.0.1:${port}`), { mode: 0o600 });
    const { code, stderr } = await plugboard(own, ["auth", "notes"]);
    await writeFile(record, real);
    other.close();
    expect([code, stderr]).toEqual([4, expect.stringContaining("is not your hub; nothing was sent to it")]);
    expect(asked).toEqual([expect.stringMatching(/^\/\.well-known\/plugboard-hub\?nonce=/)]);
  });

  it("a program at [::1] is warned about, and cannot use the code", async ({ skip }) => {
    const own = await makeOwnHome();
    hub = await startHub(own);
    const codes: string[] = [];
    const thief = createServer(({ url = "" }, response) => {
      codes.push(new URL(url, "http://x").searchParams.get("code") ?? "");
      response.end();
    });
    const port = Number(new URL(hub.url).port);
    const isOpen = await new Promise<boolean>((resolve) => {
      thief.once("error", () => resolve(false)).listen(port, "::1", () => resolve(true));
    });
    if (!isOpen) return skip("no IPv6 here");
    const command = launch(own, ["auth", "notes", "--no-browser"]);
    const address = await seenInStderr(command, ADDRESS);
    const { url } = await new Browser().open(address, ({ pathname }) => pathname === "/oauth/callback");
    await fetch(url.replace("localhost", "[::1]"));
    thief.close();
    const form = {
      grant_type: "authorization_code",
      code: codes[0] ?? "",
      client_id: new URL(address).searchParams.get("client_id") ?? "",
      redirect_uri: new URL(address).searchParams.get("redirect_uri") ?? "",
    };
    const answer = await fetch(`${issuer.issuer}/token`, { method: "POST", body: new URLSearchParams(form) });
    expect([codes[0], answer.status]).toEqual([expect.stringMatching(/./), 400]);
    command.process.kill("SIGINT");
    const { stderr } = await command.finished;
    expect(stderr).toContain(`warning: Port ${port} on ::1 is already in use`);
  });

  it("a port that another program has, without a hub, is named with a way out", async () => {
    const own = await makeOwnHome();
    const other = createServer();
    const port = await listen(other);
    const { code, stderr } = await plugboard(own, ["auth", "notes", "--port", String(port)]);
    other.close();
    expect([code, stderr]).toEqual([7, expect.stringContaining(`fix:   plugboard auth notes --port ${port + 1}`)]);
  });
});

describe("plugboard auth with wrong arguments", () => {
  it.each<[string, readonly string[], number, RegExp]>([
    ["an unknown server", ["auth", "nothing"], 6, /There is no server "nothing"/],
    ["two ways at once", ["auth", "notes", "--device", "--paste"], 2, /either --device or --paste/],
    ["a secret without an id", ["auth", "notes", "--client-secret-stdin"], 2, /needs --client-id/],
    ["an empty secret", ["auth", "notes", "--client-id", "x", "--client-secret-stdin"], 2, /is empty/],
    ["a wrong issuer", ["auth", "notes", "--issuer", "nowhere", "--port", "0"], 2, /issuer/],
    ["a show of no login", ["auth", "show", "nothing"], 6, /There is no server/],
  ])("%s", async (_, args, code, message) => {
    const own = await makeOwnHome();
    const result = await plugboard(own, args);
    expect([result.code, result.stderr]).toEqual([code, expect.stringMatching(message)]);
  });
});
