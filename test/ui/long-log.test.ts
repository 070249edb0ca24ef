// A long call log in a real browser: filters, pages, the histogram, one call run again, the export, and a burst of calls while the
// reader is elsewhere. In the long lane with a million calls, and 500 calls a second.

import { readFile } from "node:fs/promises";
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { tokenOf } from "../support/browser-session.ts";
import { fixture, type RunningHub } from "../support/hub.ts";
import { http } from "../support/rpc.ts";
import { startLivedIn } from "../support/lived-in.ts";
import { isLongRun, scaled } from "../support/scale.ts";

const SEEDED = scaled(20_000, 1_000_000);
/** Of the seeded calls, those that failed on the server memory: see test/support/lived-in.ts. */
const FAILED_ON_MEMORY = Math.ceil(SEEDED / 150);
const BURST = isLongRun ? { perSecond: 500, seconds: 10 } : { perSecond: 60, seconds: 1 };
/** What the page may keep more after a burst than before. */
const MAX_GROWTH = 16 << 20;
const ROW = '[data-test^="call:"]';
const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);

describe.skipIf(noBrowser !== undefined)(`a long call log in the browser${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let hub: RunningHub;
  let authorization: string;
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });

  beforeAll(async () => {
    // Its answers differ from those of the seeded calls.
    hub = await startLivedIn({ servers: { everything: fixture("echo") }, calls: SEEDED });
    authorization = `Bearer ${await tokenOf(hub)}`;
  });

  afterAll(async () => {
    agent.destroy();
    await hub?.stop();
    await hub?.home.remove();
  });

  const heading = (page: Page) => page.locator("main h1").textContent();

  /** The number in the heading; a count that takes too long says "more than". */
  const shownTotal = async (page: Page): Promise<number> => {
    const [, digits = ""] = /^(?:more than )?([\d,]+) calls/.exec((await heading(page)) ?? "") ?? [];
    return Number(digits.replaceAll(",", "") || NaN);
  };

  function report(what: string): void {
    if (isLongRun) process.stdout.write(`${what}\n`);
  }

  it("MG-4 filters, shows a call in detail, exports what is counted, and the address restores the view", async () => {
    const person = await browser.signedIn(hub, "calls", { viewport: { width: 1440, height: 900 } });
    const { page } = person;
    await page.locator(ROW).first().waitFor();
    const openedAt = performance.now();
    await person.go("calls");
    await page.locator(ROW).first().waitFor();
    report(`${SEEDED} calls: the first rows after ${Math.round(performance.now() - openedAt)} ms`);
    await expect.poll(() => heading(page)).toMatch(/^(?:more than )?[\d,]+ calls/);
    if (!isLongRun) expect(await shownTotal(page)).toBe(SEEDED);
    await by(page, "filter:outcome").selectOption("failed");
    await by(page, "filter:server").selectOption("memory");
    if (isLongRun) await expect.poll(() => shownTotal(page)).toBeLessThanOrEqual(FAILED_ON_MEMORY);
    else await expect.poll(() => shownTotal(page)).toBe(FAILED_ON_MEMORY);
    await page.locator(ROW).first().click();
    await by(page, "call-detail").getByText("seeded").first().waitFor();
    await expectAccessible(person);

    const address = page.url();
    const before = await heading(page);
    await page.reload();
    await by(page, "call-detail").getByText("seeded").first().waitFor();
    // A count that took too long may differ.
    if (!isLongRun) await expect.poll(() => heading(page)).toBe(before);
    expect(page.url()).toBe(address);

    const saved = page.waitForEvent("download");
    await by(page, "export").click();
    await by(page, "export-ndjson").click();
    const lines = (await readFile(await (await saved).path(), "utf8")).trimEnd().split("\n");
    expect(lines).toHaveLength(FAILED_ON_MEMORY);
    expect(lines.every((line) => (JSON.parse(line) as { server_name: string }).server_name === "memory")).toBe(true);
  });

  it("MG-4 chips take single conditions away, and a brush chooses a time", async () => {
    const person = await browser.signedIn(hub, "calls?server=memory&slower=100");
    const { page } = person;
    const chips = page.locator("search ul button");
    await expect.poll(() => chips.count()).toBe(2);
    await chips.first().click();
    await expect.poll(() => new URL(page.url()).searchParams.get("server")).toBeNull();
    await page.keyboard.press("Escape");
    await expect.poll(() => chips.count()).toBe(0);

    const histogram = by(page, "histogram");
    const width = (await histogram.boundingBox())?.width ?? 0;
    await histogram.hover({ position: { x: width * 0.6, y: 10 } });
    await page.mouse.down();
    await histogram.hover({ position: { x: width * 0.65, y: 10 } });
    await histogram.hover({ position: { x: width * 0.7, y: 10 } });
    await page.mouse.up();
    await expect.poll(() => chips.count()).toBe(1);
    await expect.poll(() => shownTotal(page)).toBeLessThan(SEEDED / 2);
    expect(await shownTotal(page)).toBeGreaterThan(0);
    const address = page.url();
    await page.reload();
    await expect.poll(() => chips.count()).toBe(1);
    expect(page.url()).toBe(address);
  });

  it("MG-4 runs a call again and compares the answers", async () => {
    const { page } = await browser.signedIn(hub, "calls?server=everything&outcome=ok", {
      viewport: { width: 1440, height: 900 },
    });
    await page.locator(ROW).first().click();
    await by(page, "call-detail").getByText("seeded").first().waitFor();
    await by(page, "run-again").click();
    const [confirm, replayed] = [by(page, "confirm"), by(page, "replayed")];
    await confirm.or(replayed).first().waitFor();
    if (await confirm.isVisible()) await confirm.click();
    await expect.poll(() => replayed.textContent()).toContain("The answer has changed");
    await by(page, "diff").getByText("found").first().waitFor();
  });

  it("MG-4 reads further pages while the reader scrolls, and draws few rows", async () => {
    const { page } = await browser.signedIn(hub, "calls");
    await page.locator(ROW).first().waitFor();
    const list = by(page, "calls");
    await list.hover();
    const next = page.waitForResponse((response) => response.url().includes("cursor="));
    await page.mouse.wheel(0, 100_000);
    expect((await next).status()).toBe(200);
    await page.locator(ROW).first().waitFor();
    expect(await page.locator(ROW).count()).toBeLessThan(100);
  });

  it("MG-4 new calls wait while the reader has scrolled, and nothing jumps", async () => {
    const { page } = await browser.signedIn(hub, "calls");
    await page.locator(ROW).first().waitFor();
    const newest = await firstVisible(page);
    await page.evaluate(`document.querySelector('[data-test="calls"]').scrollTop = 1200`);
    await expect.poll(() => firstVisible(page)).not.toBe(newest);
    const before = await firstVisible(page);
    const heapBefore = await heapOf(page);
    const startedAt = performance.now();
    const calls: Promise<void>[] = [];
    for (let second = 1; second <= BURST.seconds; second += 1) {
      calls.push(...Array.from({ length: BURST.perSecond }, () => call()));
      if (second < BURST.seconds) await sleep(Math.max(0, startedAt + second * 1000 - performance.now()));
      expect(await firstVisible(page)).toBe(before);
    }
    await Promise.all(calls);
    report(`${calls.length} calls in ${Math.round(performance.now() - startedAt)} ms`);
    const sent = isLongRun ? /^more than [\d,]*\d\d new$/ : `${calls.length} new`;
    await expect.poll(async () => (await by(page, "show-new").textContent())?.trim()).toMatch(sent);
    expect(await firstVisible(page)).toBe(before);
    const growth = (await heapOf(page)) - heapBefore;
    report(`the page keeps ${Math.round(growth / 1024)} KB more`);
    expect(growth).toBeLessThan(MAX_GROWTH);
    await by(page, "show-new").click();
    await page.locator(ROW).first().getByText("burst").waitFor();
  });

  async function call(): Promise<void> {
    const { status } = await http(`${hub.url}/api/v1/servers/everything/tools/echo/call`, {
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ arguments: { text: "burst" } }),
      agent,
    });
    expect(status).toBe(200);
  }

  /** Bytes in use by the page's script, after a collection. */
  async function heapOf(page: Page): Promise<number> {
    const session = await page.context().newCDPSession(page);
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    await session.detach();
    return usedSize;
  }

  it("the timeline draws the calls", async () => {
    const person = await browser.signedIn(hub, "calls?view=timeline");
    await by(person.page, "timeline").waitFor();
    await expectAccessible(person);
  });

  /** The topmost row that is on the screen. */
  function firstVisible(page: Page): Promise<string> {
    return page.evaluate<string>(`(() => {
      const top = document.querySelector('[data-test="calls"]').getBoundingClientRect().top;
      const rows = [...document.querySelectorAll('[data-test^="call:"]')];
      return rows.find((row) => row.getBoundingClientRect().top >= top)?.dataset.test ?? "";
    })()`);
  }
});
