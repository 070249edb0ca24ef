// The page Clients in a real browser: the files of other clients are read, changed and restored, and sessions are ended.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { fixture, type RunningHub } from "../support/hub.ts";
import { CLIENT_FILES, CLIENT_SECRET, startLivedIn } from "../support/lived-in.ts";
import { connect } from "../support/rpc.ts";

const CURSOR = ".cursor/mcp.json";
const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);

describe.skipIf(noBrowser !== undefined)(`clients in the browser${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let hub: RunningHub;

  beforeEach(async () => {
    const far = { url: "https://far.example/mcp", enabled: false };
    const started = await startLivedIn({ servers: { echo: fixture("echo"), far }, calls: 0 });
    hub = started;
    // After the browser has left its pages: they would report a hub that is gone.
    onTestFinished(async () => {
      await started.stop();
      await started.home.remove();
    });
  });

  const file = (path = CURSOR) => readFile(join(hub.home.dir, path), "utf8");
  const entries = async () =>
    (JSON.parse((await file()).replace(/^\s*\/\/.*$/m, "")) as { mcpServers: Record<string, unknown> }).mcpServers;
  const cursor = (page: Page) => by(page, "client:cursor");
  const hubState = (page: Page) => cursor(page).locator('[data-test="hub-state"]');

  const open = async () => {
    const person = await browser.signedIn(hub, "clients");
    await cursor(person.page).waitFor();
    return person;
  };

  it("MG-4 the overview's link opens the install in that client, for that group", async () => {
    const { page } = await browser.signedIn(hub, "?group=dev");
    await page.getByRole("link", { name: "Install in Cursor" }).click();
    await expect.poll(() => by(page, "install-group").inputValue()).toBe("dev");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.url()).toBe(`${hub.url}/ui/clients`);
    await expect.poll(() => by(page, "install-group").count()).toBe(0);
  });

  it("MG-4 an install shows the change before it writes, and a removal takes it back", async () => {
    const person = await open();
    const { page } = person;
    await cursor(page).locator('[data-test="install"]').click();
    await by(page, "install-group").selectOption("dev");
    const diff = by(page, "diff");
    await diff.getByText("plugboard").first().waitFor();
    await diff.getByText("dev", { exact: false }).first().waitFor();
    expect(await file()).toBe(CLIENT_FILES[CURSOR]);
    expect(await page.content()).not.toContain(CLIENT_SECRET);
    await expectAccessible(person);
    await by(page, "install-write").click();
    await expect.poll(() => hubState(page).textContent()).toContain("group dev");
    expect(Object.keys(await entries())).toEqual(["far", "tickets", "plugboard"]);
    expect(await file()).toContain("// mine");

    await cursor(page).locator('[data-test="uninstall"]').click();
    await by(page, "confirm").click();
    await expect.poll(() => hubState(page).textContent()).toBe("no");
    expect(Object.keys(await entries())).toEqual(["far", "tickets"]);
    // The other files are as they were.
    expect(await file(".claude.json")).toBe(CLIENT_FILES[".claude.json"]);
  });

  it("MG-4 a takeover leaves out what the hub has, and a backup brings it back", async () => {
    const person = await open();
    const { page } = person;
    await cursor(page).locator('[data-test="take-over"]').click();
    await by(page, "diff").waitFor();
    await by(page, "install-write").click();
    await expect.poll(() => hubState(page).textContent()).toContain("group default");
    expect(Object.keys(await entries())).toEqual(["tickets", "plugboard"]);
    await by(page, "backup:cursor").locator('[data-test="restore"]').click();
    await by(page, "confirm").click();
    await expect.poll(() => hubState(page).textContent()).toBe("no");
    expect(await file()).toBe(CLIENT_FILES[CURSOR]);
    // What the file was in between is kept, too.
    await expect.poll(() => by(page, "backup:cursor").count()).toBe(2);
    await expectAccessible(person);
  });

  it("the undo of an install restores the file", async () => {
    const { page } = await open();
    await cursor(page).locator('[data-test="install"]').click();
    await by(page, "diff").waitFor();
    await by(page, "install-write").click();
    await by(page, "toast").getByRole("button", { name: "Undo" }).click();
    await expect.poll(file).toBe(CLIENT_FILES[CURSOR]);
    await expect.poll(() => hubState(page).textContent()).toBe("no");
  });

  it("MG-4 servers of another client are imported with their credentials in the secret store", async () => {
    const person = await open();
    const { page } = person;
    await by(page, "look-for-imports").click();
    const row = by(page, "import:tickets");
    await row.getByText("credential").waitFor();
    expect(await by(page, "import:far").count()).toBe(0);
    await expectAccessible(person);
    const box = row.getByRole("checkbox");
    if (!(await box.isChecked())) await box.check();
    await by(page, "import").click();
    await page.getByText("The hub has every server").waitFor();
    expect(await page.content()).not.toContain(CLIENT_SECRET);
    expect(await file()).toBe(CLIENT_FILES[CURSOR]);
    const config = await file("config/mcp_server.json");
    expect(config).toContain("tickets");
    expect(config).not.toContain(CLIENT_SECRET);
  });

  it("a file that cannot be read is said with its place, and nothing can be written to it", async () => {
    const { page } = await open();
    const row = by(page, "client:codex");
    expect(await row.locator('[data-test="fault"]').textContent()).toMatch(/config\.toml:1:\d+: not valid TOML/);
    expect(await row.getByRole("button").count()).toBe(0);
  });

  it("MG-4 a session appears when its client connects, and is ended", async () => {
    const { page } = await open();
    const client = await connect(`${hub.url}/mcp`);
    const row = by(page, "session:test");
    await row.locator('[data-test="disconnect"]').click();
    await by(page, "confirm").click();
    await row.waitFor({ state: "detached" });
    expect((await client.send("tools/list")).status).toBe(404);
  });
});
