// The call log in the web interface: its settings, the deletion of old calls, and a call that has just ended on the overview.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { ask, tokenOf } from "../support/browser-session.ts";
import { fixture, type RunningHub } from "../support/hub.ts";
import { startLivedIn } from "../support/lived-in.ts";

const CALLS = 120;
const GIB = 1024 ** 3;

describe.skipIf(noBrowser !== undefined)(`the call log${noBrowser ?? ""}`, () => {
  let hub: RunningHub;

  beforeAll(async () => {
    hub = await startLivedIn({ servers: { it: fixture("echo") }, calls: CALLS });
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
  });

  const browser = useBrowser();

  const request = async (method: string, path: string, body?: object) => {
    const { status, body: answer } = await ask(
      hub,
      `${method} ${path}`,
      { authorization: `Bearer ${await tokenOf(hub)}` },
      body,
    );
    expect(status).toBe(200);
    return JSON.parse(answer);
  };
  const callLogEntry = async (): Promise<unknown> =>
    JSON.parse(await readFile(join(hub.home.dir, "config/mcp_server.json"), "utf8")).call_log;

  it("MG-4 a call that has just ended is on the overview, and its link opens the call", async () => {
    const { page } = await browser.signedIn(hub);
    await page.locator('[data-test^="ended:"]').first().waitFor();
    await request("POST", "/servers/it/tools/echo/call", { arguments: { text: "live from the test" } });
    await page.locator('[data-test^="ended:"] a', { hasText: "it" }).first().click();
    await page.locator('[data-test="call-detail"]').getByText("live from the test").first().waitFor();
  });

  it("MG-4 retention is refused out of range, saved, in force at once, and restored to the default", async () => {
    const person = await browser.signedIn(hub, "settings");
    person.expectFault(/status of 400/);
    const { page } = person;
    const [days, size] = [page.locator('[data-test="retention-days"]'), page.locator('[data-test="max-size"]')];
    const save = page.locator('[data-test="save-retention"]');
    await expect.poll(() => days.inputValue()).toBe("30");
    expect(await size.inputValue()).toBe("1024");
    await page.locator('[data-test="call-log-size"]').getByText("The oldest call began").waitFor();
    expect(await page.locator('[data-test="hub-facts"]').innerText()).toContain(hub.home.dir);
    await days.fill("0");
    await save.click();
    await page.getByText("call_log.retention_days must be more than 0 and at most 3650").waitFor();
    await expectAccessible(person);
    expect(await callLogEntry()).toBeUndefined();
    await days.fill("7");
    await size.fill("64");
    await save.click();
    await page.locator('[data-test="toast"]').getByText("are saved and apply now").waitFor();
    expect(await callLogEntry()).toEqual({ retention_days: 7, max_bytes: 64 << 20 });
    expect(await request("GET", "/settings")).toMatchObject({ call_log: { retention_days: 7, max_bytes: 64 << 20 } });
    await page.reload();
    await expect.poll(() => days.inputValue()).toBe("7");
    // Empty fields restore the defaults.
    await days.fill("");
    await size.fill("");
    await save.click();
    await expect.poll(callLogEntry).toBeUndefined();
    await expect.poll(() => days.inputValue()).toBe("30");
    expect(await request("GET", "/settings")).toMatchObject({ call_log: { retention_days: 30, max_bytes: GIB } });
  });

  it("MG-4 old calls are deleted after a question that says how many", async () => {
    const person = await browser.signedIn(hub, "settings");
    const { page } = person;
    const older = page.locator('[data-test="older-than"]');
    const remove = page.locator('[data-test="delete-older"]:not([aria-busy])');
    await older.waitFor();
    await older.fill("3");
    await remove.click();
    await page.locator('[data-test="toast"]').getByText("No call is older than").waitFor();
    // An hour: the calls of the lived-in hub are a minute apart.
    await older.fill(String(1 / 24));
    const before = (await request("GET", "/calls/count")).total;
    await remove.click();
    const question = page.getByRole("dialog");
    await question.getByRole("heading", { name: /^Delete \d+ calls\?$/ }).waitFor();
    await expectAccessible(person);
    await question.getByRole("button", { name: "Cancel" }).click();
    expect((await request("GET", "/calls/count")).total).toBe(before);
    await remove.click();
    const asked = Number(/\d+/.exec(await question.getByRole("heading").innerText())?.[0]);
    await page.locator('[data-test="confirm"]').click();
    await page.locator('[data-test="toast"]').getByText(`${asked} calls deleted`).waitFor();
    expect((await request("GET", "/calls/count")).total).toBe(before - asked);
    expect(asked).toBeGreaterThan(CALLS / 3);
  });
});
