// Keycloak, the identity provider that most companies have: the life of a login at a server that it protects, its tokens at the hub,
// and signing in to the hub. It takes minutes to start.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask } from "../support/browser-session.ts";
import { fixture, makeHome, plugboard, startHub, type RunningHub } from "../support/hub.ts";
import { Browser } from "../support/oauth/browser.ts";
import { passwordGrant, prepareKeycloak, startKeycloak, type Keycloak } from "../support/oauth/keycloak.ts";
import { liveThrough } from "../support/oauth/login-story.ts";
import { OAuthHub } from "../support/oauth/oauth-hub.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";
import { begin, comeBack, enter, keyIn, PROVIDER } from "../support/oauth/sso-hub.ts";
import { http, modern } from "../support/rpc.ts";
import { freePort } from "../support/sockets.ts";

const CLIENT = "plugboard";
const SECRET = "the secret of the hub at Keycloak";
const START_MS = 1_800_000;

const reason = await prepareKeycloak();
if (reason !== undefined) process.stderr.write(`Tests with Keycloak are skipped: ${reason}\n`);

describe.runIf(reason === undefined)("Keycloak", () => {
  let server: ProtectedServer;
  let keycloak: Keycloak;

  beforeAll(async () => {
    server = await ProtectedServer.open([], {
      toolScopes: {},
      tokenType: "JWT",
      keysOf: (issuer) => `${issuer}/protocol/openid-connect/certs`,
    });
    keycloak = await startKeycloak(CLIENT, server.url);
    server.settings.issuers = [keycloak.issuer];
  }, START_MS);

  afterAll(async () => {
    await keycloak?.close();
    await server?.close();
  });

  it("AU-1 a login at a server that it protects, with a client that was registered by hand", async () => {
    const hub = await OAuthHub.open();
    try {
      // Its registration is closed: the hub asks for a client id.
      await hub.add("closed", { url: server.url });
      const { json } = await hub.api("POST", "/servers/closed/login", {});
      expect(json).toMatchObject({ kind: "ClientIdRequired" });
      await hub.remove("closed");
      const auth = { client_id: CLIENT };
      // It lists offline_access, and refuses it to this user: the next login does without.
      await hub.add("first", { url: server.url, auth });
      expect(await hub.logIn("first", keycloak)).toMatchObject({
        state: "failed",
        error: {
          detail: expect.stringContaining("not_allowed"),
          hint: expect.stringContaining("plugboard auth first"),
        },
      });
      expect(await hub.logIn("first", keycloak)).toMatchObject({ state: "completed" });
      await hub.remove("first");
      keycloak.front.passed.length = 0;
      const place = { url: server.url, issuer: keycloak, auth, close: async () => {} };
      await expect(liveThrough(hub, place)).resolves.toBeUndefined();
    } finally {
      await hub.close();
    }
  });

  describe("as the identity provider of the hub", () => {
    let hub: RunningHub;
    let issuer: string;

    beforeAll(async () => {
      const port = await freePort();
      const base = `http://127.0.0.1:${port}`;
      issuer = await keycloak.addTeam({
        audience: `${base}/groups/dev/mcp`,
        callback: `${base}/login/callback`,
        secret: SECRET,
      });
      const home = await makeHome(
        { it: fixture("echo") },
        { dev: { servers: ["it"], access: ["team:eng"] }, ops: { servers: ["it"] } },
      );
      // As in docs/access.md.
      const roles = { claim: "realm_access.roles", map: { "hub-operator": "operator", "hub-admin": "admin" } };
      const sso = { name: PROVIDER, issuer, client_id: "hub", client_secret: { secretRef: "sso" } };
      const auth = { mcp: "required", issuers: [{ issuer, roles, teams: { claim: "groups" } }], sso: [sso] };
      await writeFile(join(home.dir, "config/hub.json"), JSON.stringify({ auth }));
      await plugboard(home, ["secret", "set", "sso"], { stdin: SECRET });
      hub = await startHub(home, { args: ["--port", String(port)] });
    });

    afterAll(async () => {
      await hub?.stop();
      await hub?.home.remove();
    });

    const tools = (group: string, token: string) =>
      modern(`${hub.url}/groups/${group}/mcp`, "tools/list", {}, { authorization: `Bearer ${token}` });

    it("AU-4 A10 its JWT opens the group of its audience, to the team that its claim names, and no other", async () => {
      const { access_token: token } = await passwordGrant(issuer, "agent", undefined, "openid mcp");
      const { status, body } = await tools("dev", token);
      expect([status, body.includes("echo")]).toEqual([200, true]);
      expect((await tools("ops", token)).status).toBe(401);
    });

    it("AU-4 A22 a JWT without the scope, and its ID token, open nothing", async () => {
      const { access_token: other } = await passwordGrant(issuer, "agent", undefined, "openid");
      expect((await tools("dev", other)).status).toBe(401);
      const { id_token: idToken = "" } = await passwordGrant(issuer, "agent", undefined, "openid mcp");
      expect((await tools("dev", idToken)).status).toBe(401);
      const refused = await http(`${hub.url}/groups/dev/mcp`, { method: "GET" });
      expect(refused.headers["www-authenticate"]).toContain("/.well-known/oauth-protected-resource");
    });

    it("AU-5 people sign in to the hub, and are the users that their tokens are for", async () => {
      const begun = await begin(hub);
      const browser = new Browser();
      const isCallback = ({ pathname }: URL) => pathname === "/login/callback";
      const { url } = await keycloak.approve(browser, begun.url, isCallback);
      const back = await comeBack(url, begun.cookie);
      expect(back.status).toBe(303);
      const { headers } = await enter(hub, keyIn(back), begun.cookie);
      const { body } = await ask(hub, "GET /ui/session", headers);
      expect(JSON.parse(body)).toMatchObject({ user: "alice@example.com" });
    });
  });
});
