// A person in a real browser lets an OAuth client use the hub: signs in, reads what is asked for, and consents.

import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { expectAccessible, noBrowser, useBrowser, type Person } from "../support/browser.ts";
import { clientOf } from "../support/client.ts";
import { makeHome, plugboard, published, startHub, type RunningHub } from "../support/hub.ts";
import { StepClient, type Tokens } from "../support/oauth/issuer-hub.ts";
import { PROVIDER, startSsoHub } from "../support/oauth/sso-hub.ts";
import { modern } from "../support/rpc.ts";

const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
/** Where screenshots go, to be looked at. */
const SHOTS = process.env["CONSENT_SHOTS"];

describe.skipIf(noBrowser !== undefined)(`AU-4 consent in the browser${noBrowser ?? ""}`, () => {
  let hub: RunningHub;
  let program: Server;
  let redirectUri: string;
  const browser = useBrowser();

  beforeAll(async () => {
    const home = await makeHome(
      { memory: published("server-memory") },
      { dev: { servers: ["memory"] }, "side-project": { servers: ["memory"] } },
    );
    await writeFile(
      join(home.dir, "config/hub.json"),
      JSON.stringify({ auth: { mcp: "required", server: { enabled: true } } }),
    );
    hub = await startHub(home);
    program = createServer((_request, response) => response.end("Connected")).listen(0, "127.0.0.1");
    await once(program, "listening");
    redirectUri = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
  });

  afterAll(async () => {
    program.close();
    program.closeAllConnections();
    await hub.stop();
    await hub.home.remove();
  });

  async function registered(name: string, uri = redirectUri): Promise<StepClient> {
    const client = new StepClient(hub.url, uri);
    await client.register({ client_name: name });
    return client;
  }

  function leaves(person: Person): Person {
    // The client has another origin.
    person.expectFault(/request to http:\/\/127\.0\.0\.1:\d+\/(?:callback|favicon)/);
    return person;
  }

  async function look(page: Page, name: string): Promise<void> {
    if (SHOTS === undefined) return;
    await mkdir(SHOTS, { recursive: true });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1024, 360]) {
        await page.setViewportSize({ width, height: 800 });
        await page.screenshot({ path: join(SHOTS, `${name}-${colorScheme}-${width}.png`), fullPage: true });
      }
    }
  }

  const codeIn = (page: Page) => new URL(page.url()).searchParams.get("code") ?? "";

  it("signs in with the session of the web interface, and lets a client use the groups that are chosen", async () => {
    const client = await registered("Editor of Ann");
    const person = leaves(await browser.signedIn(hub));
    const { page } = person;
    await page.goto(client.authorizeUrl({ resource: undefined }));
    await page.getByRole("heading", { name: "Allow access?" }).waitFor();
    await expectAccessible(person);
    await look(page, "consent");
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByText("Choose at least one group").waitFor();
    person.expectFault(/status of 400/);
    await page.goto(client.authorizeUrl({ resource: undefined }));
    await page.getByRole("heading", { name: "Allow access?" }).waitFor();
    await page.getByLabel("dev").check();
    await page.getByLabel("read-only").check();
    await page.getByLabel("Access ends after").selectOption("7 days");
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(`${redirectUri}?**`);
    const { access_token: token } = (await (await client.redeem(codeIn(page))).json()) as Tokens;
    const headers = { authorization: `Bearer ${token}` };
    const { status, body } = await modern(`${hub.url}/mcp/dev`, "tools/list", {}, headers);
    expect([status, body.includes("read_graph"), body.includes("create_entities")]).toEqual([200, true, false]);
    expect((await modern(`${hub.url}/mcp/side-project`, "tools/list", {}, headers)).status).toBe(404);

    await person.go("access");
    const row = page.locator("tr", { hasText: "Editor of Ann" });
    await row.getByText("dev, read-only").waitFor();
    await expectAccessible(person);
    await look(page, "access");
    await row.getByRole("button", { name: "End access" }).click();
    await page.locator('[data-test="confirm"]').click();
    await row.waitFor({ state: "detached" });
    expect((await modern(`${hub.url}/mcp/dev`, "tools/list", {}, headers)).status).toBe(401);
  });

  it("goes on by itself when the owner has approved the code on the command line", async () => {
    const client = await registered("");
    const person = leaves(await browser.open(hub));
    const { page } = person;
    await page.goto(client.authorizeUrl());
    const command = await page.locator("code").innerText();
    await expectAccessible(person);
    await look(page, "sign-in");
    const [, ...args] = command.split(" ");
    const { stdout, stderr } = await plugboard(hub.home, [...args, "-y"]);
    expect(stdout + stderr).toContain("Signed in");
    await page.getByText("gives no name").waitFor();
    await page.getByRole("button", { name: "Deny" }).click();
    await page.waitForURL(/error=access_denied/);
  });

  it("AU-5 signs in by an identity provider, and comes back to the page", async () => {
    const sso = await startSsoHub({
      servers: { memory: published("server-memory") },
      groups: {
        dev: { servers: ["memory"], access: ["user:alice@example.com"] },
        closed: { servers: ["memory"], access: ["user:bob@example.com"] },
      },
      auth: { mcp: "required", server: { enabled: true } },
    });
    onTestFinished(() => sso.close());
    sso.provider.settings.account = "alice";
    sso.provider.settings.claims = { email_verified: true };
    const client = new StepClient(sso.hub.url, redirectUri);
    await client.register({ client_name: "Editor of Alice" });
    const person = leaves(await browser.open(sso.hub));
    // The sign-in itself is at the provider.
    person.expectFault(new RegExp(`^request to ${sso.provider.issuer}`));
    const { page } = person;
    await page.goto(client.authorizeUrl({ resource: undefined }));
    const button = page.getByRole("button", { name: `Sign in with ${PROVIDER}` });
    await button.waitFor();
    await expectAccessible(person);
    await look(page, "sign-in-sso");
    const asked = page.url();
    await button.click();
    await page.getByRole("heading", { name: "Allow access?" }).waitFor();
    expect(page.url()).toBe(asked);
    await page.getByText("alice@example.com").waitFor();
    // `default` is open to everyone.
    expect(await page.getByRole("checkbox", { name: "closed" }).count()).toBe(0);
    await page.getByLabel("dev").check();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(`${redirectUri}?**`);
    const { access_token: token } = (await (await client.redeem(codeIn(page))).json()) as Tokens;
    const headers = { authorization: `Bearer ${token}` };
    expect((await modern(`${sso.hub.url}/mcp/dev`, "tools/list", {}, headers)).status).toBe(200);
  });

  it("A26 shows what a client says about itself as text only", async () => {
    const client = await registered(HOSTILE, "https://evil.example/callback");
    const person = await browser.signedIn(hub);
    const { page } = person;
    await page.goto(client.authorizeUrl());
    await page.getByRole("heading", { name: "Allow access?" }).waitFor();
    await look(page, "hostile");
    expect(await page.title()).toBe("Allow access to Plugboard");
    expect(await page.locator("img, main script").count()).toBe(0);
    expect(await page.locator(".host").innerText()).toBe("evil.example");
  });

  it("A26 is not shown in a frame", async () => {
    const client = await registered("Framed");
    const person = await browser.signedIn(hub);
    const { page } = person;
    person.expectFault(/frame|CSP violation|status of 403|refused/i);
    const { headers } = await fetch(client.authorizeUrl());
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("x-frame-options")).toBe("DENY");
    const url = JSON.stringify(client.authorizeUrl());
    const frame = `Object.assign(document.createElement("iframe"), { id: "victim", src: ${url} })`;
    await page.evaluate(
      `new Promise((resolve) => { const frame = ${frame}; frame.onload = resolve; document.body.append(frame); })`,
    );
    expect(await page.frameLocator("#victim").getByRole("heading").count()).toBe(0);
  });

  it("plugboard grant says when there is no such access", async () => {
    const api = await clientOf(hub);
    expect(await api.grants.list()).toEqual([]);
    const { stderr, code } = await plugboard(hub.home, ["grant", "rm", "12345678"]);
    expect([code, stderr]).toEqual([6, expect.stringContaining("No client has access")]);
  });
});
