// Servers in a real browser: a missing secret is set, a server is added by pasting, a switch that cannot turn goes back, a removal is
// taken back; its environment is edited.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { clientOf } from "../support/client.ts";
import { failing, fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";
import { processesWithMark, untilNoneWithMark } from "../support/processes.ts";

const VALUE = "hunter2-hunter2";
const REFUSED = /status of (400|409|503)/;

const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);

describe.skipIf(noBrowser !== undefined)(`servers${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let hub: RunningHub;

  beforeAll(async () => {
    const home = await makeHome({
      it: { ...fixture("echo"), env: { LEVEL: "debug" } },
      locked: { ...fixture("echo"), env: { API_TOKEN: { secretRef: "token", required: true } } },
      broken: { ...failing(), enabled: false },
    });
    hub = await startHub(home);
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
  });

  const configText = () => readFile(join(hub.home.dir, "config/mcp_server.json"), "utf8");
  const names = async () => (await (await clientOf(hub)).servers.list()).map(({ config }) => config.name).toSorted();

  it("MG-4 a server that lacks a secret gets it on the Overview, and runs", async () => {
    const person = await browser.signedIn(hub);
    const { page } = person;
    const row = by(page, "attention:locked");
    await row.getByText("Missing required credentials").waitFor();
    await expectAccessible(person);
    await row.locator('[data-test="fix"]').click();
    await by(page, "secret-value").fill(VALUE);
    await expectAccessible(person);
    await by(page, "secret-form").getByRole("button", { name: "Store and start" }).click();
    await row.waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "All 2 servers work" }).waitFor();
    expect(await page.content()).not.toContain(VALUE);
    expect(page.url()).not.toContain(VALUE);
    expect(await page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")).not.toContain(VALUE);
    expect(await configText()).not.toContain(VALUE);
  });

  it.each([
    ["a package", "npx -y @acme/thing ~/work", ["thing"], "npm package @acme/thing"],
    ["an address", "https://far.example/mcp", ["far"], "Remote server at https://far.example/mcp"],
    [
      "the JSON of a README",
      '{"mcpServers": {"one": {"command": "npx", "args": ["-y", "a"]}, "two": {"command": "uvx", "args": ["b"]}, "three": {"url": "https://c.example/mcp"}}}',
      ["one", "two", "three"],
      "npm package a",
    ],
    ["a line for another client", "claude mcp add mine -- npx -y @acme/thing", ["mine"], "npm package @acme/thing"],
    ["a server that the hub has", [fixture("echo").command, ...fixture("echo").args].join(" "), ["echo"], "Program"],
  ])("MG-4 reads %s when it is pasted", async (_what, pasted, found, understood) => {
    const person = await browser.signedIn(hub, "add");
    const { page } = person;
    await by(page, "paste").fill(pasted);
    for (const name of found) await by(page, `entry:${name}`).waitFor();
    expect(await by(page, "understood").first().textContent()).toContain(understood);
    await expect.poll(() => by(page, "add-button").isEnabled()).toBe(true);
    await expectAccessible(person);
  });

  it("what cannot be read is said, and nothing is saved", async () => {
    const before = await configText();
    const person = await browser.signedIn(hub, "add");
    person.expectFault(REFUSED);
    const { page } = person;
    await by(page, "paste").fill("{ not json");
    await page.getByText("not valid JSON").waitFor();
    expect(await by(page, "add-button").count()).toBe(0);
    await expectAccessible(person);
    expect(await configText()).toBe(before);
  });

  it("a test shows its stages, and cancelling it ends the process", async () => {
    const { page } = await browser.signedIn(hub, "add");
    const { command, args } = fixture("slow-start", "600000");
    const mark = `SLOW_MARK=${Math.random()}`;
    const [variable = "", value = ""] = mark.split("=");
    await by(page, "paste").fill(
      JSON.stringify({ mcpServers: { slow: { command, args, env: { [variable]: value } } } }),
    );
    await by(page, "test").click();
    await by(page, "test-progress").getByText("handshake").waitFor();
    await expect.poll(() => processesWithMark(mark).length).toBe(1);
    await by(page, "test-progress").getByRole("button", { name: "Cancel" }).click();
    await by(page, "test-progress").getByText("Test cancelled").waitFor();
    await untilNoneWithMark(mark);
    expect(await names()).toEqual(["broken", "it", "locked"]);
  });

  it("the switch of a server that cannot start goes back, with the reason", async () => {
    const person = await browser.signedIn(hub, "servers");
    person.expectFault(REFUSED);
    const { page } = person;
    await expectAccessible(person);
    await by(page, "switch:broken").click();
    await by(page, "toast").getByText("broken: The server exited with code 3 before the handshake").waitFor();
    await expect.poll(() => by(page, "switch:broken").getAttribute("aria-checked")).toBe("false");
    await by(page, "server:broken").getByText("off", { exact: true }).waitFor();
  });

  it("several servers are started together, and what failed is listed", async () => {
    const person = await browser.signedIn(hub, "servers");
    person.expectFault(REFUSED);
    const { page } = person;
    for (const name of ["it", "broken"]) await by(page, `server:${name}`).getByRole("checkbox").check();
    await by(page, "bulk").getByRole("button", { name: "Start", exact: true }).click();
    await by(page, "bulk").getByText("2 of 2, 1 failed").waitFor();
    await expectAccessible(person);
  });

  it("a removal is taken back", async () => {
    const person = await browser.signedIn(hub, "servers");
    const { page } = person;
    await by(page, "menu:it").click();
    await page.getByRole("menuitem", { name: "Remove" }).click();
    await by(page, "server:it").waitFor({ state: "detached" });
    // A message stays while the pointer is on it.
    await by(page, "toast").hover();
    await expectAccessible(person);
    await page.getByRole("button", { name: "Undo" }).click();
    await by(page, "server:it").waitFor();
    expect(await names()).toEqual(["broken", "it", "locked"]);
  });

  it("a plain variable becomes a secret", async () => {
    const person = await browser.signedIn(hub, "servers/it?tab=environment");
    const { page } = person;
    const row = by(page, "variable:LEVEL");
    await expectAccessible(person);
    await row.getByRole("button", { name: "Keep as secret" }).click();
    await row.getByText("secret it-LEVEL").waitFor();
    await expectAccessible(person);
    expect(await configText()).not.toContain('"debug"');
  });
});
