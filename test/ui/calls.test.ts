// The pages Calls and Secrets in a real browser: finding a call, following new ones, running one again; storing a secret.
// A long log, with its pages, its export and its timeline, is in long-log.test.ts.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { ask, tokenOf } from "../support/browser-session.ts";
import { fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";

const ROW = '[data-test^="call:"]';

describe.skipIf(noBrowser !== undefined)(`calls and secrets${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let hub: RunningHub;

  beforeAll(async () => {
    hub = await startHub(await makeHome({ it: fixture("echo") }));
    for (let n = 0; n < 3; n += 1) await call({ text: `number ${n}` });
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
  });

  async function call(args: object): Promise<void> {
    const authorization = `Bearer ${await tokenOf(hub)}`;
    const { status } = await ask(hub, "POST /servers/it/tools/echo/call", { authorization }, { arguments: args });
    expect(status).toBe(200);
  }

  it("a filter is in the address, and finds calls by their text", async () => {
    const person = await browser.signedIn(hub, "calls");
    const { page } = person;
    await expect.poll(() => page.locator(ROW).count()).toBe(3);
    await page.locator('[data-test="filter:text"]').fill("number 1");
    await expect.poll(() => page.locator(ROW).count()).toBe(1);
    await expect.poll(() => new URL(page.url()).searchParams.get("q")).toBe("number 1");
    await page.reload();
    await expect.poll(() => page.locator(ROW).count()).toBe(1);
    await expectAccessible(person);
  });

  it("a call is shown in detail and runs again", async () => {
    const { page } = await browser.signedIn(hub, "calls", { viewport: { width: 1440, height: 900 } });
    await page.locator(ROW).first().click();
    await page.locator('[data-test="call-detail"]').getByText("number").first().waitFor();
    await page.locator('[data-test="run-again"]').click();
    const confirm = page.locator('[data-test="confirm"]');
    const replayed = page.locator('[data-test="replayed"]');
    await confirm.or(replayed).first().waitFor();
    if (await confirm.isVisible()) await confirm.click();
    await expect.poll(() => replayed.textContent()).toContain("The answer is the same");
    // The new call waits: the reader looks at another one.
    await page.locator('[data-test="show-new"]').waitFor();
  });

  it("a new call appears by itself while the reader looks at the beginning", async () => {
    const { page } = await browser.signedIn(hub, "calls");
    await page.locator(ROW).first().waitFor();
    const before = await page.locator(ROW).count();
    await call({ text: "new" });
    await expect.poll(() => page.locator(ROW).count()).toBe(before + 1);
  });

  it("a secret is stored, and its value is nowhere on the page", async () => {
    const person = await browser.signedIn(hub, "secrets");
    const { page } = person;
    await page.locator('[data-test="add-secret"]').click();
    await page.locator('[data-test="secret-name"]').fill("API_KEY");
    await page.locator('[data-test="secret-value"]').fill("hunter2-hunter2");
    await page.locator('[data-test="save-secret"]').click();
    await page.locator('[data-test="secret:API_KEY"]').waitFor();
    expect(await page.content()).not.toContain("hunter2");
    expect(page.url()).not.toContain("hunter2");
    expect(await page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")).not.toContain("hunter2");
    await expectAccessible(person);
  });
});
