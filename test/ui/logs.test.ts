// Logs in a real browser: stderr and MCP messages of servers, live, by source and level, and around a time of the history.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { ask, tokenOf } from "../support/browser-session.ts";
import { fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";

const HOUR_MS = 3_600_000;
const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);

describe.skipIf(noBrowser !== undefined)(`logs in the browser${noBrowser ?? ""}`, () => {
  let hub: RunningHub;
  let authorization: string;
  const startedAt = Date.now();

  beforeAll(async () => {
    const home = await makeHome({ talks: fixture("logs"), quiet: fixture("echo") });
    const state = { server: "talks", stage: null, circuit: "closed", reason: null, pid: null };
    const history = [
      { ...state, status: "running", at: startedAt - 30 * HOUR_MS },
      { ...state, status: "error", at: startedAt - 12 * HOUR_MS, reason: "out of memory" },
      { ...state, status: "running", at: startedAt - 6 * HOUR_MS },
    ];
    await mkdir(join(home.dir, "state"), { recursive: true });
    await writeFile(join(home.dir, "state", "server-history.json"), JSON.stringify(history));
    hub = await startHub(home);
    authorization = `Bearer ${await tokenOf(hub)}`;
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
  });

  const browser = useBrowser();

  const talk = (data?: string) =>
    ask(
      hub,
      "POST /servers/talks/tools/talk/call",
      { authorization },
      { arguments: data === undefined ? {} : { data } },
    );
  const lines = (page: Page) => by(page, "line");

  it("MG-4 a server's messages come live, and are chosen by source and level in the address", async () => {
    await talk();
    const person = await browser.signedIn(hub, "servers/talks?tab=log");
    const { page } = person;
    await expect.poll(() => lines(page).filter({ hasText: "emergency" }).count()).toBe(1);
    await talk();
    await expect.poll(() => lines(page).filter({ hasText: "emergency" }).count()).toBe(2);
    await by(page, "level").selectOption("error");
    await expect.poll(() => lines(page).filter({ hasText: "warning" }).count()).toBe(0);
    expect(await lines(page).filter({ hasText: "critical" }).count()).toBe(2);
    await by(page, "source").selectOption("mcp");
    await expect.poll(() => new URL(page.url()).search).toContain("source=mcp");
    await page.reload();
    await expect.poll(() => lines(page).count()).toBe(8);
    await expectAccessible(person);
    await by(page, "source").selectOption("stderr");
    await expect.poll(() => lines(page).count()).toBe(0);
  });

  it("T30 text of a message is text, and hidden characters are seen", async () => {
    await talk("<img src=x onerror=alert(1)> a\u202Eb");
    const { page } = await browser.signedIn(hub, "logs?server=talks&source=mcp");
    await lines(page).filter({ hasText: "<img src=x onerror=alert(1)> a⟨U+202E⟩b" }).first().waitFor();
    await page.goto(`${hub.url}/ui/logs?server=quiet&source=mcp`);
    await page.getByText("No line is kept.").waitFor();
  });

  it("MG-4 a click on the history goes to that time in the log, and from there to its calls", async () => {
    const person = await browser.signedIn(hub, "servers/talks", { viewport: { width: 1440, height: 900 } });
    const { page } = person;
    const strip = page.getByRole("group", { name: /^Last 24 h: 1 restart, 1 failure$/ });
    const failed = strip.getByRole("button", { name: /^error, / });
    const box = await failed.boundingBox();
    if (box === null) throw new Error("The failure is not on the strip");
    // A third into six hours: about ten hours ago.
    await failed.click({ position: { x: box.width / 3, y: box.height / 2 } });
    await page.waitForURL(/tab=log/);
    const at = Date.parse(new URL(page.url()).searchParams.get("at") ?? "");
    expect(Math.abs(startedAt - 10 * HOUR_MS - at)).toBeLessThan(HOUR_MS / 2);
    await page.getByText(/^The hub has lines since /).waitFor();
    await expectAccessible(person);
    await by(page, "calls-at").click();
    await page.waitForURL(/\/calls\?/);
    const { searchParams } = new URL(page.url());
    expect(searchParams.get("server")).toBe("talks");
    expect(Date.parse(searchParams.get("since") ?? "")).toBe(at - 300_000);
    expect(Date.parse(searchParams.get("until") ?? "")).toBe(at + 300_000);
  });

  it("MG-4 a time in the address is shown in the log by keyboard, and the newest lines are one button away", async () => {
    await talk("early");
    const { body } = await ask(hub, "GET /servers/talks/logs?source=mcp&tail=1", { authorization });
    const [last] = (JSON.parse(body) as { lines: { timestamp: string }[] }).lines;
    await talk("late");
    const { page } = await browser.signedIn(hub, `servers/talks?tab=log&at=${last?.timestamp}`);
    const marked = page.locator('[data-test="line"].at');
    await marked.filter({ hasText: "early" }).waitFor();
    await page.getByRole("button", { name: "Newest lines" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).searchParams.get("at")).toBeNull();
    await marked.waitFor({ state: "detached" });
    await lines(page).filter({ hasText: "late" }).last().waitFor();
    // Each change of the table is a link as well.
    await page.getByText("Last 24 h: 1 restart, 1 failure").click();
    await page.getByRole("table").getByRole("link").last().focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/at=/);
  });
});
