// The page Access in a real browser: logins at servers, with a real authorization server, and the browsers that are signed in.

import { describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { expectAccessible, noBrowser, useBrowser, type Person } from "../support/browser.ts";
import { misfits } from "../support/browser-layout.ts";
import { Browser as OtherBrowser } from "../support/oauth/browser.ts";
import { useOAuth } from "../support/oauth/protected-pair.ts";
import { modern } from "../support/rpc.ts";

const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);
/** Where the hub sends the browser after the login: without the code. */
const DONE = /\/oauth\/done\/[\w-]+$/;
const FORMS = /eyJ[\w-]+\.|refresh_token|access_token/;

const DEVICE = {
  client_id: "native",
  redirect_uris: ["http://127.0.0.1/oauth/callback"],
  application_type: "native",
  grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
  token_endpoint_auth_method: "none",
} as const;

describe.skipIf(noBrowser !== undefined)(`access in the browser${noBrowser ?? ""}`, () => {
  const { hub, protect, protectLoggedIn } = useOAuth();
  const browser = useBrowser();

  const open = async (issuer: string): Promise<Person> => {
    const { running } = hub();
    const person = await browser.signedIn(running, "access");
    // The login page has another origin, and so has the address to which it sends the browser back.
    person.expectFault(new RegExp(`request to (?:${issuer}|http://localhost:\\d+/oauth/)`));
    return person;
  };

  /** Begins a login on the page and follows its link, in a tab of its own. */
  async function logIn({ page, context }: Person, name: string): Promise<Page> {
    await by(page, `login:${name}`).locator('[data-test="log-in"]').click();
    const opened = context.waitForEvent("page");
    await by(page, "open-login").click();
    return opened;
  }

  /** No token is on the page, in its address or in what it keeps. */
  async function expectNoToken(page: Page): Promise<void> {
    expect(await page.content()).not.toMatch(FORMS);
    expect(page.url()).not.toMatch(FORMS);
    expect(await page.evaluate<string>("JSON.stringify({ ...localStorage, ...sessionStorage })")).not.toMatch(FORMS);
  }

  it("MG-4 logs in at a server in another tab, shows the login, and logs out", async () => {
    const { name, issuer } = await protect();
    const person = await open(issuer.issuer);
    const { page } = person;
    const row = by(page, `login:${name}`);
    await row.getByText("needs login").waitFor();
    const tab = await logIn(person, name);
    await tab.waitForURL(DONE);
    await row.getByText("logged in").waitFor();
    await by(page, "dialog").waitFor({ state: "detached" });
    await hub().untilState(name, "running");
    await row.getByText("mcp", { exact: true }).waitFor();
    await expectNoToken(page);
    await expectNoToken(tab);
    await expectAccessible(person);

    await row.locator('[data-test="log-out"]').click();
    await by(page, "confirm").click();
    await row.locator('[data-test="log-in"]').waitFor();
    await expect.poll(async () => (await hub().api("GET", "/logins")).json).not.toMatchObject([{ state: "connected" }]);
  });

  it("MG-4 a login that the person refuses is said, and can be tried again", async () => {
    const { name, issuer } = await protect({ decision: "deny" });
    const person = await open(issuer.issuer);
    const { page } = person;
    person.expectFault(/status of 4\d\d .*\/oauth\//);
    const tab = await logIn(person, name);
    await tab.waitForURL(DONE);
    await by(page, "dialog").getByText("refused").first().waitFor();
    await expectAccessible(person);
    await by(page, "cancel-login").click();
    const row = by(page, `login:${name}`);
    await row.getByText("needs login").waitFor();

    issuer.settings.decision = "accept";
    await logIn(person, name);
    await row.getByText("logged in").waitFor();
    await expectNoToken(page);
  });

  it("MG-4 a login that has expired is said, and replaced by a new one", async () => {
    const { name, issuer, server } = await protectLoggedIn({ refreshTokens: false });
    const person = await open(issuer.issuer);
    const { page } = person;
    const row = by(page, `login:${name}`);
    await row.getByText("logged in").waitFor();
    // The server refuses the token, and there is nothing to renew it with.
    server.revokeTokens();
    await hub().api("POST", `/servers/${name}/restart`);
    await row.getByText("needs login").waitFor();
    await expectAccessible(person);
    await logIn(person, name);
    await row.getByText("logged in").waitFor();
    await expectNoToken(page);
  });

  it("MG-4 logs in with a code, which is entered on another machine", async () => {
    const { name, issuer } = await protect({ clients: [DEVICE], entry: { auth: { client_id: DEVICE.client_id } } });
    const person = await open(issuer.issuer);
    const { page } = person;
    const row = by(page, `login:${name}`);
    await row.locator('[data-test="log-in"]').click();
    await by(page, "elsewhere").click();
    await by(page, "use-code").click();
    await by(page, "user-code").waitFor();
    await expectAccessible(person);
    const address = (await by(page, "open-login").getAttribute("href")) ?? "";
    expect(address).toContain((await by(page, "user-code").textContent()) ?? "no code");
    const elsewhere = new OtherBrowser();
    await elsewhere.submit(await elsewhere.submit(await elsewhere.open(address)), { confirm: "yes" });
    await row.getByText("logged in").waitFor();
    await expectNoToken(page);
  });

  it("MG-4 AU-3 makes an access token that works, shows it once, and revokes it", async () => {
    const { running } = hub();
    const person = await browser.signedIn(running, "access");
    const { page } = person;
    await by(page, "new-token").click();
    await by(page, "token-name").fill("my laptop");
    await by(page, "token-group:default").check();
    await by(page, "token-read-only").check();
    await expectAccessible(person);
    expect(await misfits(page, "plain", [1024, 360])).toEqual([]);
    await by(page, "token-create").click();
    const shown = (await by(page, "made-token").locator("pre").textContent()) ?? "";
    expect(shown).toMatch(/^pbt_/);
    await expectAccessible(person);
    const authorization = `Bearer ${shown}`;
    const use = () => modern(`${running.url}/mcp`, "tools/list", {}, { authorization });
    expect((await use()).status).toBe(200);
    await by(page, "token-copied").click();
    await by(page, "token:my laptop").waitFor();
    await expectAccessible(person);
    expect(await page.content()).not.toContain(shown);
    expect(await page.evaluate<string>("JSON.stringify({ ...localStorage, ...sessionStorage })")).not.toContain(shown);

    await by(page, "revoke:my laptop").click();
    await by(page, "confirm").click();
    await by(page, "token:my laptop").waitFor({ state: "detached" });
    expect((await use()).status).toBe(401);
  });

  it("signs out every browser at once", async () => {
    const { running } = hub();
    const first = await browser.signedIn(running, "access");
    const second = await browser.signedIn(running, "servers");
    for (const person of [first, second]) person.expectFault(/status of 401/);
    await by(first.page, "sign-out-all").click();
    await by(first.page, "confirm").click();
    for (const { page } of [first, second]) await by(page, "sign-in").waitFor();
  });
});
