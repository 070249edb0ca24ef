// The config of one server in a real browser: as a form and as JSON, with marks, and when it changes meanwhile.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, replaceText, useBrowser } from "../support/browser.ts";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";

const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);

describe.skipIf(noBrowser !== undefined)(`the config of a server${noBrowser ?? ""}`, () => {
  let hub: RunningHub;

  beforeEach(async () => {
    hub = await startHub(await makeHome({ it: { ...fixture("echo"), env: { LEVEL: "debug" } } }));
  });

  afterEach(async () => {
    await hub?.stop();
    await hub?.home.remove();
  });

  // After the hook above, which then runs later: pages report a hub that is gone.
  const browser = useBrowser();

  const configText = () => readFile(join(hub.home.dir, "config/mcp_server.json"), "utf8");

  it("the config of a server is edited as a form and as JSON", async () => {
    const person = await browser.signedIn(hub, "servers/it?tab=config");
    const { page } = person;
    await by(page, "config-command").fill("");
    await by(page, "field:Command").getByText("Command is empty").waitFor();
    await expectAccessible(person);
    await by(page, "config-command").fill(process.execPath);
    await page.getByLabel("Description").fill("It says what it hears");
    await by(page, "save-config").click();
    await by(page, "toast").getByText("Saved").waitFor();
    await page.getByRole("radio", { name: "JSON" }).check();
    const editor = by(page, "config-json").locator(".cm-content");
    await editor.getByText("It says what it hears").waitFor();
    await expectAccessible(person);
    expect(await configText()).toContain("It says what it hears");
  });

  it("MG-4 JSON that is wrong is marked at its line while it is typed, and is not saved", async () => {
    const person = await browser.signedIn(hub, "servers/it?tab=config");
    const { page } = person;
    const before = await configText();
    await page.getByRole("radio", { name: "JSON" }).check();
    const editor = by(page, "config-json").locator(".cm-content");
    await editor.getByText('"command"').waitFor();
    await replaceText(page, '{\n  "command": "node",\n  "timeouts": {\n    "start_ms": "soon"\n  }\n}');
    await by(page, "config-errors").getByText("timeouts.start_ms").waitFor();
    await editor.locator(".cm-lintRange-error").getByText('"start_ms"').waitFor();
    await expectAccessible(person);
    await replaceText(page, '{\n  "command": "node",\n}');
    await page.getByText("Line 3: Not valid JSON").waitFor();
    expect(await by(page, "save-config").isDisabled()).toBe(true);
    expect(await configText()).toBe(before);
  });

  it("MG-4 a config that changed meanwhile is shown with its base and both changes", async () => {
    const person = await browser.signedIn(hub, "servers/it?tab=config");
    person.expectFault(/status of 409/);
    const { page } = person;
    const api = await clientOf(hub);
    await page.getByLabel("Description").fill("Mine");
    await api.servers.patch("it", { cwd: hub.home.dir });
    await by(page, "save-config").click();
    const merge = by(page, "merge");
    await merge.getByLabel("What changed meanwhile").getByText(hub.home.dir).waitFor();
    await merge.getByLabel("Your change").getByText("Mine").waitFor();
    await expectAccessible(person);
    await by(page, "keep-mine").click();
    await by(page, "toast").getByText("Saved").waitFor();
    expect((await api.servers.get("it")).config).toMatchObject({ description: "Mine" });
    expect((await api.servers.get("it")).config).not.toHaveProperty("cwd");
    await page.getByLabel("Description").fill("Mine again");
    await api.servers.patch("it", { description: "Theirs" });
    await by(page, "save-config").click();
    await by(page, "take-theirs").click();
    await expect.poll(() => page.getByLabel("Description").inputValue()).toBe("Theirs");
  });

  it("MG-4 a change of another server is no conflict", async () => {
    const person = await browser.signedIn(hub, "servers/it?tab=config");
    person.expectFault(/status of 409/);
    const { page } = person;
    const api = await clientOf(hub);
    await page.getByLabel("Description").fill("Mine");
    await api.servers.create({ name: "other", command: "/no/such", enabled: false });
    await by(page, "save-config").click();
    await by(page, "toast").getByText("Saved").waitFor();
    expect((await api.servers.get("it")).config.description).toBe("Mine");
  });
});
