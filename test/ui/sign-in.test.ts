// Signing in with a real browser: the link, what the browser keeps, and how other pages and programs fail to use it.

import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { ask, makeKey, tokenOf } from "../support/browser-session.ts";
import { fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";
import { listen } from "../support/sockets.ts";

const REFUSED = /status of 40[13]/;
const TITLE = "This browser is not signed in";

describe.skipIf(noBrowser !== undefined)(`signing in${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let hub: RunningHub;

  beforeAll(async () => {
    hub = await startHub(await makeHome({ it: fixture("echo") }));
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
  });

  it("a link signs in, and is gone from the address and the history", async () => {
    const { page, context } = await browser.signedIn(hub, "servers");
    await expect.poll(() => page.url()).toBe(`${hub.url}/ui/servers`);
    expect(await page.evaluate("history.length")).toBe(2);
    await page.goBack();
    expect(page.url()).toBe("about:blank");
    const [cookie, ...others] = await context.cookies(`${hub.url}/api`);
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({
      name: `pb_session_${new URL(hub.url).port}`,
      httpOnly: true,
      sameSite: "Strict",
      path: "/api",
      domain: "127.0.0.1",
    });
    expect(await context.cookies(`${hub.url}/mcp`)).toEqual([]);
  });

  it("without a link, the page says how to get one", async () => {
    const person = await browser.open(hub);
    await person.go("servers");
    await person.page.getByRole("heading", { name: TITLE }).waitFor();
    await expectAccessible(person);
    const field = person.page.locator('[data-test="sign-in-link"]');
    await field.fill(`http://127.0.0.1:1/ui/#k=${"x".repeat(43)}`);
    await person.page.locator('[data-test="sign-in-button"]').click();
    await person.page.getByText("That link is for another hub, at 127.0.0.1:1").waitFor();
    await field.fill(`${hub.url}/ui/#k=${await makeKey(hub)}`);
    await person.page.locator('[data-test="sign-in-button"]').click();
    await person.page.locator("main h1", { hasNotText: TITLE }).waitFor();
    expect(person.page.url()).toBe(`${hub.url}/ui/servers`);
  });

  it("a link that is pasted into the address bar of the open page signs in", async () => {
    const person = await browser.open(hub);
    const { page } = person;
    await person.go("servers");
    await page.getByRole("heading", { name: TITLE }).waitFor();
    await page.evaluate(`location.hash = "k=${await makeKey(hub)}"`);
    await page.locator("main h1", { hasNotText: TITLE }).waitFor();
    expect(page.url()).toBe(`${hub.url}/ui/servers`);
  });

  it("a link that was used does not sign in another browser", async () => {
    const key = await makeKey(hub);
    const first = await browser.open(hub);
    await first.go(`servers#k=${key}`);
    await first.page.locator("main h1", { hasNotText: TITLE }).waitFor();
    const second = await browser.open(hub);
    second.expectFault(REFUSED);
    await second.go(`servers#k=${key}`);
    await second.page.getByRole("heading", { name: TITLE }).waitFor();
    await second.page.getByText("it has been used, or is older").waitFor();
    expect(second.page.url()).toBe(`${hub.url}/ui/servers`);
  });

  it("all tabs of a browser are signed in, and a session that ends leaves what was typed", async () => {
    const person = await browser.signedIn(hub, "servers");
    person.expectFault(REFUSED);
    const tab = await person.context.newPage();
    await tab.goto(`${hub.url}/ui/add`);
    await tab.locator("main h1", { hasNotText: TITLE }).waitFor();
    const field = tab.locator("main textarea, main input").first();
    await field.fill("npx something-unfinished");
    await ask(hub, "DELETE /ui/sessions", { authorization: `Bearer ${await tokenOf(hub)}` });
    await tab.getByRole("dialog", { name: TITLE }).waitFor();
    expect(await field.inputValue()).toBe("npx something-unfinished");
    await tab.locator('[data-test="sign-in-link"]').fill(await makeKey(hub));
    await tab.locator('[data-test="sign-in-button"]').click();
    await tab.getByRole("dialog").waitFor({ state: "detached" });
    expect(await field.inputValue()).toBe("npx something-unfinished");
  });

  it("T03 a page of another port gets the cookie, and can do nothing with it", async () => {
    const person = await browser.signedIn(hub, "servers");
    person.expectFault(/request to |Failed to (?:load|fetch)|blocked by CORS|ERR_|CSP violation|frame/);
    const received: string[] = [];
    const attacker = createServer((request, response) => {
      received.push(request.headers.cookie ?? "");
      response.setHeader("content-type", "text/html").end("<title>attacker</title>");
    });
    onTestFinished(() => void attacker.close());
    const at = `http://127.0.0.1:${await listen(attacker)}`;
    const tab = await person.context.newPage();
    await tab.goto(`${at}/api`);
    const [stolen = ""] = received;
    expect(stolen).toContain("pb_session_");
    const statuses: number[] = [];
    tab.on("response", (response) => {
      if (response.url().startsWith(hub.url)) statuses.push(response.status());
    });
    await tab.evaluate(`(async () => {
      const hub = ${JSON.stringify(`${hub.url}/api/v1`)};
      const send = (path, init) => fetch(hub + path, { credentials: "include", ...init }).catch(() => undefined);
      await send("/secrets", { mode: "no-cors" });
      await send("/servers/it/stop", { mode: "no-cors", method: "POST" });
      await send("/servers/it/stop", { mode: "cors", method: "POST", headers: { "x-plugboard-key": "guess" } });
      const form = document.createElement("form");
      Object.assign(form, { action: hub + "/servers/it/stop", method: "post" });
      document.body.append(form);
      form.submit();
    })()`);
    await tab.waitForURL(`${hub.url}/**`);
    await expect.poll(() => statuses.length).toBeGreaterThanOrEqual(3);
    expect(statuses.every((status) => status === 401 || status === 403)).toBe(true);
    // The program itself, outside of a browser.
    expect((await ask(hub, "POST /servers/it/stop", { cookie: stolen, origin: hub.url })).status).toBe(401);
    const { status } = JSON.parse(
      (await ask(hub, "GET /servers/it", { authorization: `Bearer ${await tokenOf(hub)}` })).body,
    );
    expect(status).toBe("running");
  });

  it("T30 a page of another site cannot show the hub in a frame", async () => {
    const person = await browser.signedIn(hub, "servers");
    person.expectFault(/request to |frame|Refused|ERR_BLOCKED|status of 403/i);
    const site = createServer((_, response) =>
      response.setHeader("content-type", "text/html").end(`<iframe src="${hub.url}/ui/"></iframe>`),
    );
    onTestFinished(() => void site.close());
    const tab = await person.context.newPage();
    const framed = tab.waitForResponse(`${hub.url}/ui/`);
    await tab.goto(`http://127.0.0.1:${await listen(site)}/`);
    expect((await framed).status()).toBe(403);
  });
});
