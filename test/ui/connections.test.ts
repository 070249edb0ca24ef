// My connections: the logins and secrets of the person who looks, at servers that want something of each person.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { misfits } from "../support/browser-layout.ts";
import { fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";

let hub: RunningHub;

beforeAll(async () => {
  const given = fixture("given");
  const home = await makeHome({
    tracker: { ...given, env: { KEY: "${user:TRACKER_KEY}" } },
    notes: { url: "http://127.0.0.1:9/mcp", enabled: false, auth: { per: "user" } },
  });
  hub = await startHub(home);
});

afterAll(async () => {
  await hub?.stop();
  await hub?.home.remove();
});

const browser = useBrowser();
const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);

describe.skipIf(noBrowser !== undefined)(`AU-5 My connections${noBrowser ?? ""}`, () => {
  it("shows what servers want of the person, and takes a secret", async () => {
    const person = await browser.signedIn(hub, "connections?server=notes&for=abc");
    const { page } = person;
    page.setDefaultTimeout(15_000);
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByText("A call of yours needs a login at notes").waitFor();
    await by(page, "personal-secret:TRACKER_KEY").getByText("not stored").waitFor();
    await expectAccessible(person);
    await by(page, "set-personal-secret").click();
    await by(page, "secret-value").fill("tracker-k3y-1f");
    await by(page, "save-secret").click();
    await by(page, "personal-secret:TRACKER_KEY").getByText("Replace").waitFor();
    expect(await page.content()).not.toContain("tracker-k3y-1f");
    expect(await misfits(page, "plain", [1440, 1024, 360])).toEqual([]);
  });
});
