// Updates of a server's package in a real browser: what changes in the tools is shown before anything is installed.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { clientOf } from "../support/client.ts";
import { makeHome, startHub } from "../support/hub.ts";
import { Registry, SERVER } from "../support/registry.ts";

const NAME = "@plugboard-test/told";

describe.skipIf(noBrowser !== undefined)(`MG-4 updates in the browser${noBrowser ?? ""}`, () => {
  const browser = useBrowser();

  it("shows what changes, updates, and goes back", async () => {
    const registry = await Registry.open();
    const place = await mkdtemp(join(tmpdir(), "plugboard-place-"));
    const env = {
      npm_config_registry: registry.url,
      npm_config_cache: join(place, "cache"),
      npm_config_userconfig: join(place, "no-settings"),
    };
    registry.publish({ name: NAME, version: "1.0.0" });
    const home = await makeHome({ told: { command: "npx", args: ["-y", NAME], cwd: place } });
    const hub = await startHub(home, { env });
    onTestFinished(async () => {
      await hub.stop();
      await home.remove();
      await registry.close();
      await rm(place, { recursive: true, force: true });
    });
    registry.publish({ name: NAME, version: "2.0.0", files: { "server.js": SERVER.replace('"about"', '"tell"') } });
    const api = await clientOf(hub);
    const version = async () => (await api.servers.get("told")).package?.version;
    const person = await browser.signedIn(hub, "servers");
    const { page } = person;
    page.setDefaultTimeout(12_000);
    const choose = async (item: string) => {
      await page.locator('[data-test="menu:told"]').click();
      await page.getByRole("menuitem", { name: item }).click();
    };
    await choose("Update package");
    const lines = page.locator('[data-test="confirm-lines"]');
    await lines.filter({ hasText: "+ tell" }).waitFor();
    await expectAccessible(person);
    expect(await version()).toBe("1.0.0");
    await page.locator('[data-test="confirm"]').click();
    await expect.poll(version).toBe("2.0.0");
    await choose("Back to the version before");
    await expect.poll(version).toBe("1.0.0");
  });
});
