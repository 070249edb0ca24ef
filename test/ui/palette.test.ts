// The palette: finds what there is, and does what is typed, with the keyboard alone.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, untilLive, useBrowser } from "../support/browser.ts";
import { clientOf } from "../support/client.ts";
import { failing, fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";

const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);

describe.skipIf(noBrowser !== undefined)(`the palette${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let hub: RunningHub;

  beforeAll(async () => {
    hub = await startHub(await makeHome({ it: fixture("echo"), other: fixture("echo"), broken: failing() }));
    const api = await clientOf(hub);
    await api.groups.set("dev", { servers: ["it", "other"] });
    await api.secrets.set("deploy-token", "hunter2-hunter2");
    await api.callTool({ server: "it", tool: "echo", arguments: { text: "hi" } });
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
  });

  const open = async (page: Page) => {
    await untilLive(page);
    await page.keyboard.press("Control+k");
    const box = by(page, "palette").getByRole("combobox");
    await box.waitFor();
    return box;
  };

  /** Types, and waits until this is the entry that Enter would run. */
  const choose = async (page: Page, typed: string, id: string) => {
    const box = await open(page);
    await box.fill(typed);
    await by(page, `entry:${id}`).and(page.locator('[aria-selected="true"]')).waitFor();
    await box.press("Enter");
  };

  it("MG-4 begins with what needs attention, and then with what was chosen last", async () => {
    const person = await browser.signedIn(hub, "stats");
    const { page } = person;
    await open(page);
    const attention = page.getByRole("group", { name: "Needs attention" });
    await attention.getByRole("option", { name: "broken" }).waitFor();
    await expectAccessible(person);
    await page.keyboard.press("Escape");
    await choose(page, "secrets", "page Secrets");
    await page.waitForURL(/\/secrets$/);
    await open(page);
    await page.getByRole("group", { name: "Recent" }).getByRole("option", { name: "Secrets" }).waitFor();
  });

  it("MG-4 a verb and its object are found in either order, and Tab completes them", async () => {
    const { page } = await browser.signedIn(hub, "stats");
    const api = await clientOf(hub);
    const box = await open(page);
    await box.fill("other disab");
    await by(page, "entry:action turn off other").and(page.locator('[aria-selected="true"]')).waitFor();
    await box.press("Tab");
    expect(await box.inputValue()).toBe("turn off other ");
    await box.press("Enter");
    await expect.poll(async () => (await api.servers.get("other")).status).toBe("disabled");
    await choose(page, "theme dark", "action theme dark");
    await page.locator('html[data-theme="dark"]').waitFor({ state: "attached" });
  });

  it("MG-4 what is typed while it is being loaded is in its box, and is no shortcut", async () => {
    const { page } = await browser.signedIn(hub, "stats");
    let load = () => {};
    const held = new Promise<void>((resolve) => (load = resolve));
    await page.route(/\/Palette-[^/]*\.js$/, async (route) => {
      await held;
      await route.continue();
    });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("g s?");
    load();
    const box = by(page, "palette").getByRole("combobox");
    await expect.poll(() => box.inputValue()).toBe("g s?");
    expect(new URL(page.url()).pathname).toBe("/ui/stats");
  });

  it.each([
    ["try echo", "tool it · echo", /\/try\/it\/echo/],
    ["deploy", "secret deploy-token", /\/secrets/],
    ["cursor", "client Cursor", /\/clients/],
    ["it echo", "call 1", /\/calls\?id=1/],
  ])("MG-4 %s goes to what it names", async (typed, id, url) => {
    const { page } = await browser.signedIn(hub, "stats");
    const box = await open(page);
    await box.fill(typed);
    await by(page, `entry:${id}`).click();
    await page.waitForURL(url);
  });

  it("MG-4 what destroys asks first", async () => {
    const { page } = await browser.signedIn(hub, "stats");
    await choose(page, "delete it", "action remove it");
    await by(page, "dialog").getByText("Remove it?").waitFor();
    await page.keyboard.press("Escape");
    await by(page, "dialog").waitFor({ state: "detached" });
    expect((await (await clientOf(hub)).servers.list()).map(({ config }) => config.name)).toContain("it");
  });
});
