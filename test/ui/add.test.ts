// Adding a server in a real browser: it is tested first, and a failure keeps the form and names the field.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";

const TOKEN = "hunter2-hunter2";
/** Ends with a message that names the variable. */
const NEEDY = {
  command: process.execPath,
  args: ["-e", "console.error('Error: API_TOKEN environment variable is not set'); process.exit(1)"],
  env: { API_TOKEN: TOKEN },
};

const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);

describe.skipIf(noBrowser !== undefined)(`adding a server${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let hub: RunningHub;

  beforeAll(async () => {
    hub = await startHub(await makeHome({ it: fixture("echo") }));
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
  });

  const configText = () => readFile(join(hub.home.dir, "config/mcp_server.json"), "utf8");
  const paste = (page: Page, servers: Record<string, unknown>) =>
    by(page, "paste").fill(JSON.stringify({ mcpServers: servers }));

  it("MG-4 a server that fails its test is not saved, and the field is marked", async () => {
    const before = await configText();
    const api = await clientOf(hub);
    const person = await browser.signedIn(hub, "add");
    const { page } = person;
    await paste(page, { needy: NEEDY });
    await by(page, "add-button").click();
    const variable = page.getByLabel("API_TOKEN", { exact: true });
    await page.locator("input[aria-invalid=true]:focus").waitFor();
    expect(await variable.inputValue()).toBe(TOKEN);
    await expectAccessible(person);
    expect(await configText()).toBe(before);
    expect(await api.secrets.list()).toEqual([]);
    await variable.fill("another");
    expect(await page.locator("[aria-invalid=true]").count()).toBe(0);
    await by(page, "add-untested").click();
    await by(page, "added:needy").waitFor();
    expect((await api.secrets.list()).map(({ name }) => name)).toEqual(["needy-API_TOKEN"]);
    expect((await api.servers.get("needy")).secret_refs).toEqual({ API_TOKEN: "needy-API_TOKEN" });
  });

  it("MG-4 a command that does not exist and a name that is taken are said where they were typed", async () => {
    const person = await browser.signedIn(hub, "add");
    const { page } = person;
    await by(page, "paste").fill("/no/such/program --serve");
    await by(page, "add-name").fill("it");
    await by(page, "add-button").click();
    await by(page, "field:Name").getByText("There is a server it already").waitFor();
    await by(page, "add-name").fill("lost");
    await by(page, "add-button").click();
    await page.locator('textarea[aria-invalid="true"]').waitFor();
    await by(page, "test-progress").getByText("/no/such/program").first().waitFor();
    await expectAccessible(person);
    expect(await by(page, "paste").inputValue()).toBe("/no/such/program --serve");
    expect(await configText()).not.toContain("/no/such/program");
  });

  it("MG-4 a server that works is tested and added", async () => {
    const { page } = await browser.signedIn(hub, "add");
    await paste(page, { talker: { ...fixture("echo"), env: { GREETING: "hello" } } });
    await by(page, "add-button").click();
    await by(page, "added:talker").getByText("running").waitFor();
    expect(await configText()).toContain('"talker"');
  });
});
