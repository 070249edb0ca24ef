// `plugboard add`, `ls`, `get`, `status` and `doctor` with a server that needs a login.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client/client.ts";
import { tokenOf } from "../support/client.ts";
import { launch, makeHome, plugboard, seenInStderr, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { startAuthorizationServer, type AuthorizationServer } from "../support/oauth/authorization-server.ts";
import { Browser } from "../support/oauth/browser.ts";
import { TRANSIENT } from "../support/oauth/front.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";
import { noTerminal, onTerminal } from "../support/terminal.ts";

let issuer: AuthorizationServer;
let server: ProtectedServer;
let home: Home;
let hub: RunningHub | undefined;

beforeAll(async () => {
  issuer = await startAuthorizationServer();
  server = await ProtectedServer.open([issuer.issuer]);
  issuer.settings.resources.set(server.url, server.allScopes);
});

afterAll(async () => {
  await server.close();
  await issuer.close();
});

afterEach(async () => {
  expect(await hub?.stop()).toBe(hub === undefined ? undefined : 0);
  hub = undefined;
  await home.remove();
});

describe.each(["with a running hub", "without a hub"])("AU-1 %s", (how) => {
  const prepare = async () => {
    home = await makeHome({});
    if (how === "with a running hub") hub = await startHub(home);
  };

  it("plugboard add saves a server that needs a login, and says how to log in", async () => {
    await prepare();
    const { code, stdout, stderr } = await plugboard(home, ["add", server.url, "notes"]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^Added notes to \S+mcp_server\.json; it needs a login\n$/),
    ]);
    expect(stderr).toContain("Log in: plugboard auth notes\n");
    const [ls, get, doctor] = await Promise.all(
      [["ls"], ["get", "notes"], ["doctor"]].map((args) => plugboard(home, args)),
    );
    expect(ls?.stdout).toMatch(/^notes +http +needs login .*Server "notes" needs a login: plugboard auth notes$/m);
    expect(get?.stdout).toMatch(/^notes +(needs login|stopped)/);
    if (hub === undefined) return;
    expect(get?.stdout).toMatch(/^ {2}fix +plugboard auth notes$/m);
    expect(doctor?.stdout).toMatch(/notes: Server "notes" needs a login.*\n +fix: plugboard auth notes/);
    const { stdout: status } = await plugboard(home, ["status"]);
    expect(status).toMatch(/! notes +Server "notes" needs a login: plugboard auth notes$/m);
  });

  it("plugboard test of an address leads to plugboard add, and leaves no login behind", async () => {
    await prepare();
    const { code, stdout, stderr } = await plugboard(home, ["test", server.url]);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(/: The server needs a login\n/);
    expect(stderr).toContain(`Save it and log in: plugboard add ${server.url}\n`);
    expect(stderr).not.toMatch(/plugboard (auth|edit)|\/connect\//);
    const { stdout: logins } = await plugboard(home, ["auth", "--json"]);
    expect(JSON.parse(logins)).toEqual([]);
  });

  it.skipIf(noTerminal !== undefined)("plugboard add offers the login on a terminal", async () => {
    await prepare();
    const { code, screen } = await onTerminal(home, ["add", server.url, "notes"], {
      env: { SSH_CONNECTION: "1 2 3 4" },
      columns: 2000,
      type: [
        { after: /Log in to notes now\? \[Y\/n\] /, keys: "y\r" },
        {
          after: /Address: /,
          keys: async (text) => {
            const shown = /^ {2}(http\S+)$/m.exec(text)?.[1] ?? "";
            return `${(await new Browser().open(shown, ({ pathname }) => pathname === "/oauth/callback")).url}\r`;
          },
        },
      ],
    });
    expect([code, screen]).toEqual([0, expect.stringMatching(/notes: connected.*3 tools/)]);
    const { stdout } = await plugboard(home, ["get", "notes"]);
    expect(stdout).toMatch(/^ {2}login +connected.*, for mcp/m);
  });
});

it("AU-1 a test of a changed entry leaves the login of the saved server as it is", async () => {
  home = await makeHome({ notes: { url: server.url } });
  hub = await startHub(home);
  const begun = launch(home, ["auth", "notes", "--no-browser"]);
  const page = await seenInStderr(begun, /^ {2}(http\S+)$/m);
  const client = new HubClient({ url: hub.url, token: await tokenOf(home) });
  const { config } = await client.servers.get("notes");
  const other = await ProtectedServer.open([issuer.issuer]);
  const { success, error } = await client.servers.test({ ...config, url: other.url });
  expect([success, error?.kind]).toEqual([false, "LoginRequired"]);
  await other.close();
  // The login that was open before the test can still be finished.
  await new Browser().open(page);
  expect((await begun.finished).code).toBe(0);
  expect((await client.servers.get("notes")).login).toMatchObject({ state: "connected" });
});

describe("AU-2 a login that will end", () => {
  it("is a warning in get, doctor and status", async () => {
    home = await makeHome({ notes: { url: server.url } });
    hub = await startHub(home);
    issuer.settings.refreshTokens = false;
    const command = launch(home, ["auth", "notes", "--no-browser"]);
    await new Browser().open(await seenInStderr(command, /^ {2}(http\S+)$/m));
    expect((await command.finished).code).toBe(0);
    issuer.settings.refreshTokens = true;
    for (const args of [["get", "notes"], ["doctor"], ["status"]]) {
      const { stdout } = await plugboard(home, args);
      expect(stdout).toMatch(/Its login ends at .* and cannot be renewed: there is no refresh token/);
    }
  });

  it("whose last renewal failed is a warning in doctor", async () => {
    home = await makeHome({ notes: { url: server.url } });
    hub = await startHub(home);
    const command = launch(home, ["auth", "notes", "--no-browser"]);
    await new Browser().open(await seenInStderr(command, /^ {2}(http\S+)$/m));
    expect((await command.finished).code).toBe(0);
    issuer.front.fail("token", TRANSIENT["503"]);
    expect((await plugboard(home, ["auth", "refresh", "notes"])).code).toBe(4);
    const { stdout } = await plugboard(home, ["doctor"]);
    issuer.front.heal();
    expect(stdout).toMatch(/Its login cannot be renewed at the moment: /);
  });
});
