// The config files as text in the settings.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, replaceText, useBrowser } from "../support/browser.ts";
import { makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";

const SECRET = "edited-secret-1f2e";
const TEXT = `{
  // Tools for work
  "mcpServers": {
    "notes": {
      "command": "/no/such",
      "enabled": false, // later
      "env": { "API_KEY": "${SECRET}" }
    }
  }
}
`;

describe.skipIf(noBrowser !== undefined)(`the editor of the config files${noBrowser ?? ""}`, () => {
  let home: Home;
  let hub: RunningHub;
  let path: string;

  beforeEach(async () => {
    home = await makeHome({});
    path = join(home.dir, "config", "mcp_server.json");
    await writeFile(path, TEXT);
    hub = await startHub(home);
  });

  afterEach(async () => {
    await hub?.stop();
    await home?.remove();
  });

  const browser = useBrowser();

  it("MG-4 refuses an invalid text with its place, and saves a valid one with comments and secrets", async () => {
    const person = await browser.signedIn(hub, "settings");
    person.expectFault(/status of 400/);
    const { page } = person;
    const shown = TEXT.replace(SECRET, "***");
    await page.locator(".cm-content").getByText("// Tools for work").waitFor();
    expect(await page.locator("body").innerText()).not.toContain(SECRET);
    await replaceText(page, shown.replace('"/no/such"', "5"));
    await page.locator('[data-test="save-config"]').click();
    await page.locator('[data-test="config-errors"]').getByText("Line 5, column 7").waitFor();
    await expectAccessible(person);
    expect(await readFile(path, "utf8")).toBe(TEXT);
    await replaceText(page, shown.replace("/no/such", "/other"));
    await page.locator('[data-test="validate-config"]').click();
    await page.getByText("No errors. Not saved yet.").waitFor();
    expect(await readFile(path, "utf8")).toBe(TEXT);
    await page.locator('[data-test="review-config"]').click();
    await page.getByLabel(`Change of ${path}`).getByText("/other").waitFor();
    await page.locator('[data-test="save-config"]').click();
    await page.locator('[data-test="toast"]').getByText(`${path} is saved`).waitFor();
    expect(await readFile(path, "utf8")).toBe(TEXT.replace("/no/such", "/other"));
  });

  it("MG-4 shows what changed meanwhile before a text is saved over it", async () => {
    const person = await browser.signedIn(hub, "settings");
    person.expectFault(/status of 409/);
    const { page } = person;
    await page.locator(".cm-content").getByText("// Tools for work").waitFor();
    await replaceText(page, TEXT.replace(SECRET, "***").replace("/no/such", "/mine"));
    await writeFile(path, TEXT.replace("Tools for work", "Changed on disk"));
    await page.locator('[data-test="save-config"]').click();
    const merge = page.locator('[data-test="merge"]');
    await merge.getByLabel("What changed meanwhile").getByText("Changed on disk").waitFor();
    await merge.getByLabel("Your change").getByText("/mine").waitFor();
    await expectAccessible(person);
    await page.locator('[data-test="keep-both"]').click();
    await page.locator('[data-test="save-config"]').click();
    await page.locator('[data-test="toast"]').getByText("is saved").waitFor();
    expect(await readFile(path, "utf8")).toBe(
      TEXT.replace("/no/such", "/mine").replace("Tools for work", "Changed on disk"),
    );
  });
});
