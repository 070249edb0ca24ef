// Sign-in by an identity provider with a real browser: as an administrator, as an operator and as a user, what each of them sees, and
// how it ends.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, useBrowser, type Person } from "../support/browser.ts";
import { fixture } from "../support/hub.ts";
import { misfits } from "../support/browser-layout.ts";
import { tokenOf } from "../support/client.ts";
import { modern } from "../support/rpc.ts";
import { PROVIDER, startSsoHub, withUsers, type SsoHub } from "../support/oauth/sso-hub.ts";

const TITLE = "This browser is not signed in";
const REFUSED = /status of 401/;

describe.skipIf(noBrowser !== undefined)(`AU-5 signing in by an identity provider${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let sso: SsoHub;

  beforeAll(async () => {
    sso = await startSsoHub({
      servers: { it: fixture("echo") },
      groups: { desk: { servers: ["it"] }, closed: { servers: ["it"], access: ["team:eng"] } },
      auth: { admins: ["root@example.com"] },
      sso: { roles: { claim: "groups", map: { ops: "operator" } }, end_session: true },
    });
  });

  afterAll(() => sso?.close());

  /** Opens a page, and signs in there. */
  async function signIn(account: string, path = "", groups: readonly string[] = []): Promise<Person> {
    sso.provider.settings.account = account;
    sso.provider.settings.claims = { email_verified: true, groups };
    const person = await browser.open(sso.hub);
    // The sign-in itself is at the provider.
    person.expectFault(new RegExp(`^request to ${sso.provider.issuer}`));
    await person.go(path);
    await person.page.getByRole("button", { name: `Sign in with ${PROVIDER}` }).click();
    await person.page.locator("main h1", { hasNotText: TITLE }).waitFor();
    return person;
  }

  const pagesOf = ({ page }: Person) =>
    page.locator("header nav a").evaluateAll((links) => links.map((link) => link.textContent));

  it("is offered beside the link, and comes back to the page that was wanted", async () => {
    const person = await browser.open(sso.hub);
    await person.go("servers");
    await person.page.getByRole("button", { name: `Sign in with ${PROVIDER}` }).waitFor();
    await expectAccessible(person);
    const { page, context } = await signIn("root", "servers?q=it");
    expect(page.url()).toBe(`${sso.hub.url}/ui/servers?q=it`);
    // Neither the code of the provider nor the key of the hub is left.
    await page.getByRole("button", { name: "Hub: live", includeHidden: true }).waitFor({ state: "attached" });
    const cookies = await context.cookies(`${sso.hub.url}/api`);
    const own = cookies.filter(({ name }) => name.startsWith("pb_"));
    const port = new URL(sso.hub.url).port;
    expect(own.map(({ name, httpOnly }) => `${name} ${httpOnly}`).toSorted()).toEqual([
      `pb_session_${port} true`,
      `pb_sign_in_${port} true`,
    ]);
  });

  it("an administrator sees everything, and who is signed in", async () => {
    const person = await signIn("root", "access");
    const { page } = person;
    expect(await pagesOf(person)).toEqual(expect.arrayContaining(["Servers", "Secrets", "Access"]));
    await page.getByRole("cell", { name: "root@example.com" }).first().waitFor();
    await page.locator('[data-test="who"]').click();
    await page.getByText("Administrator").waitFor();
    await expectAccessible(person);
  });

  it("an operator sees what runs, and neither secrets nor access of others", async () => {
    const person = await signIn("olga", "servers", ["ops"]);
    await person.page.getByRole("button", { name: "Hub: live", includeHidden: true }).waitFor({ state: "attached" });
    expect(await pagesOf(person)).toEqual(["Overview", "Servers", "Tools", "Groups", "Calls", "Stats", "Access"]);
    for (const path of ["", "tools", "groups", "calls", "stats", "logs", "health", "access", "servers/it"]) {
      await person.go(path);
      await person.page.locator("main h1").waitFor();
    }
    await person.go("secrets");
    await person.page.getByRole("heading", { name: "Your role does not include this page" }).waitFor();
  });

  it("a user sees only what is theirs, on every width", async () => {
    const person = await signIn("alice");
    const { page } = person;
    await expect.poll(() => page.url()).toBe(`${sso.hub.url}/ui/my-groups`);
    expect(await pagesOf(person)).toEqual(["My groups", "Calls", "Access"]);
    await page.locator('[data-test="my-group:desk"]').waitFor();
    expect(await page.locator('[data-test="my-group:closed"]').count()).toBe(0);
    await page.getByText(`${sso.hub.url}/groups/desk/mcp`).waitFor();
    await expectAccessible(person);
    expect(await misfits(page, "plain", [1440, 1024, 360])).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await person.go("access");
    await page.getByRole("heading", { name: "Browsers" }).waitFor();
    expect(await page.getByRole("heading", { name: "The management token" }).count()).toBe(0);
    await expectAccessible(person);
    await page.setViewportSize({ width: 360, height: 700 });
    await page.locator('[data-test="menu"]').click();
    await page.getByRole("dialog").getByText("alice@example.com").waitFor();
    await expectAccessible(person);
    await page.keyboard.press("Escape");
    await person.go("servers");
    await page.getByRole("heading", { name: "Your role does not include this page" }).waitFor();
  });

  it("a user makes a token for a group, and sees the calls of its client and of nobody else", async () => {
    const person = await signIn("alice", "access");
    const { page } = person;
    await page.locator('[data-test="new-token"]').click();
    await page.locator('[data-test="token-name"]').fill("my laptop");
    await page.locator('[data-test="token-group:desk"]').check();
    expect(await page.getByLabel("Role").count()).toBe(0);
    await expectAccessible(person);
    await page.locator('[data-test="token-create"]').click();
    const shown = await page.locator('[data-test="made-token"]').textContent();
    const [token = ""] = /pbt_[A-Za-z0-9_-]{43}[A-Za-z0-9]{6}/.exec(shown ?? "") ?? [];
    await page.locator('[data-test="token-copied"]').click();
    const owner = await tokenOf(sso.home);
    for (const [bearer, text] of [
      [token, "of alice"],
      [owner, "of the owner"],
    ] as const) {
      const params = { name: "echo", arguments: { text } };
      const headers = { authorization: `Bearer ${bearer}` };
      expect((await modern(`${sso.hub.url}/groups/desk/mcp`, "tools/call", params, headers)).body).toContain(text);
    }
    await person.go("calls");
    await page.locator('[data-test^="call:"]').first().waitFor();
    expect(await page.locator('[data-test^="call:"]').count()).toBe(1);
    await expectAccessible(person);
    expect(await misfits(page, "plain", [1440, 1024, 360])).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.locator('[data-test^="call:"]').first().click();
    await page.locator('[data-test="call-detail"]').getByText("of alice").first().waitFor();
    expect(await page.locator('[data-test="open-try"]').count()).toBe(0);
  });

  it("a disabled user is signed out at once", async () => {
    const person = await signIn("dora", "servers", ["ops"]);
    person.expectFault(REFUSED);
    await person.page.getByRole("button", { name: "Hub: live", includeHidden: true }).waitFor({ state: "attached" });
    await withUsers(sso, (users) => users.setDisabled("dora@example.com", true));
    await person.page.getByRole("dialog", { name: TITLE }).waitFor();
  });

  it("signing out ends the session here and at the provider", async () => {
    const person = await signIn("alice");
    const { page } = person;
    // Of the provider's page.
    person.expectFault(/fonts\.googleapis\.com|favicon\.ico/);
    await page.locator('[data-test="who"]').click();
    await page.locator('[data-test="account-sign-out"]').click();
    await page.waitForURL(`${sso.provider.issuer}/session/end?**`);
    await page.getByRole("button", { name: /yes/i }).click();
    await page.waitForURL(`${sso.hub.url}/ui/`);
    await page.getByRole("heading", { name: TITLE }).waitFor();
    expect((await person.context.cookies(`${sso.hub.url}/api`)).map(({ name }) => name)).not.toContain(
      `pb_session_${new URL(sso.hub.url).port}`,
    );
  });
});
