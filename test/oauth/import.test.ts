// The import of a login that another program has made and keeps in its settings.

import { createHash, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { Outputs } from "../support/leaks.ts";
import { startAuthorizationServer, type AuthorizationServer } from "../support/oauth/authorization-server.ts";
import { Browser } from "../support/oauth/browser.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";

const CLIENT = "the-other-hub";
const REDIRECT = "http://localhost:3000/oauth/callback";

let home: Home;
let hub: RunningHub | undefined;
let issuer: AuthorizationServer;
let server: ProtectedServer;

afterEach(async () => {
  expect(await hub?.stop()).toBe(hub === undefined ? undefined : 0);
  hub = undefined;
  await home.remove();
  await server.close();
  await issuer.close();
});

/** A login of another program: its tokens. */
async function logInElsewhere(): Promise<{ access_token: string; refresh_token: string }> {
  const verifier = randomBytes(32).toString("base64url");
  const url = new URL(`${issuer.issuer}/auth`);
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: CLIENT,
    redirect_uri: REDIRECT,
    scope: "mcp offline_access",
    prompt: "consent",
    resource: server.url,
    state: "s",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  }).toString();
  const { url: callback } = await issuer.approve(new Browser(), url.href, ({ port }) => port === "3000");
  const answer = await fetch(`${issuer.issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: CLIENT,
      code: new URL(callback).searchParams.get("code") ?? "",
      redirect_uri: REDIRECT,
      code_verifier: verifier,
      resource: server.url,
    }),
  });
  return (await answer.json()) as { access_token: string; refresh_token: string };
}

describe.each(["with a running hub", "without a hub"])("CF-11 AU-1 %s", (how) => {
  async function prepare(): Promise<{ access_token: string; refresh_token: string }> {
    issuer = await startAuthorizationServer({
      clients: [
        {
          client_id: CLIENT,
          token_endpoint_auth_method: "none",
          redirect_uris: [REDIRECT],
          grant_types: ["authorization_code", "refresh_token"],
          application_type: "native",
        },
      ],
    });
    server = await ProtectedServer.open([issuer.issuer]);
    issuer.settings.resources.set(server.url, server.allScopes);
    home = await makeHome({});
    if (how === "with a running hub") hub = await startHub(home);
    const tokens = await logInElsewhere();
    const { access_token: accessToken, refresh_token: refreshToken } = tokens;
    const entry = { type: "streamable-http", url: server.url, oauth: { clientId: CLIENT, accessToken, refreshToken } };
    await writeFile(join(home.dir, "mcp_settings.json"), JSON.stringify({ mcpServers: { notes: entry } }));
    return tokens;
  }

  const run = (...args: string[]) => plugboard({ ...home, env: { ...home.env, MCPHUB_SETTING_PATH: home.dir } }, args);

  it("tokens in the settings of MCPHub are taken over, and are in no file and no output", async () => {
    const tokens = await prepare();
    const outputs = new Outputs();
    for (const args of [["--dry-run"], ["--dry-run", "--json"], ["-y"]]) {
      const { code, stdout, stderr } = await run("import", "--from", "mcphub", ...args);
      expect(code).toBe(0);
      outputs.add(`import ${args.join(" ")}`, stdout, stderr);
      if (args.includes("-y")) expect(stderr).toContain("the login of MCPHub is used here from now on");
    }
    const logins = JSON.parse((await run("auth", "--json")).stdout) as unknown[];
    expect(logins).toMatchObject([{ server: "notes", state: "connected", client_id: CLIENT, renewable: true }]);
    const { code, stdout } = await run("call", "notes.whoami");
    expect([code, stdout]).toEqual([0, expect.stringContaining("alice")]);
    // One person, one login: the hub has only renewed it.
    expect(issuer.front.grants("authorization_code")).toHaveLength(1);
    await outputs.addFiles(join(home.dir, "config"), "config", /^$/);
    await outputs.addFiles(join(home.dir, "data"), "data", /^$/);
    expect(outputs.hits({ access: tokens.access_token, refresh: tokens.refresh_token })).toEqual([]);
  });

  it("a login that has ended is not taken over: the server is imported, and the note says how to log in", async () => {
    await prepare();
    issuer.storage.graceMs = 0;
    issuer.front.fail("token", { do: "echo", status: 400, error: "invalid_grant" });
    const { code, stdout, stderr } = await run("import", "--from", "mcphub", "-y");
    expect([code, stdout]).toEqual([0, expect.stringContaining("Added notes from mcphub")]);
    expect(stderr).toMatch(/the login of MCPHub cannot be taken over \(.*\): plugboard auth notes/);
    const logins = JSON.parse((await run("auth", "--json")).stdout) as { state: string }[];
    expect(logins.map(({ state }) => state)).not.toContain("connected");
  });
});
