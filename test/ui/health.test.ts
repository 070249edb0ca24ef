// The page of checks: what it finds, and the repair of it.

import { chmod, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";

describe.skipIf(noBrowser !== undefined)(`the page of checks${noBrowser ?? ""}`, () => {
  let home: Home;
  let hub: RunningHub;

  beforeEach(async () => {
    home = await makeHome({ echo: fixture("echo"), lost: { command: "no-such-program", enabled: true } });
    hub = await startHub(home);
  });

  afterEach(async () => {
    await hub?.stop();
    await home?.remove();
  });

  const browser = useBrowser();

  it("MG-4 shows a problem with its advice, and repairs what can be repaired", async () => {
    const log = join(home.dir, "state", "log.jsonl.1");
    await writeFile(log, "");
    await chmod(log, 0o644);
    const person = await browser.signedIn(hub, "health");
    const { page } = person;
    await page.getByText("not found, needed by lost").waitFor();
    const check = page.getByRole("listitem").filter({ hasText: log });
    await check.getByRole("button", { name: "Fix" }).click();
    await page.locator('[data-test="toast"]').getByText(`Repaired: made ${log} private (0600)`).waitFor();
    await check.waitFor({ state: "detached" });
    expect((await stat(log)).mode & 0o777).toBe(0o600);
    await expectAccessible(person);
  });
});
