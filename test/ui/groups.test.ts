// Groups in a real browser: ticks become the fewest rules, the preview is what clients then get, and no change is lost.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { ask, tokenOf } from "../support/browser-session.ts";
import { makeHome, published, startHub, type RunningHub } from "../support/hub.ts";

const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);

describe.skipIf(noBrowser !== undefined)(`groups in the browser${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let hub: RunningHub;

  beforeEach(async () => {
    const servers = { everything: published("server-everything"), memory: published("server-memory") };
    const started = await startHub(await makeHome(servers, { dev: { servers: ["everything"] } }));
    hub = started;
    // After the browser has left its pages: they would report a hub that is gone.
    onTestFinished(async () => {
      await started.stop();
      await started.home.remove();
    });
  });

  const groupFile = () => join(hub.home.dir, "config/group.json");
  const saved = async () =>
    JSON.parse(await readFile(groupFile(), "utf8")) as Record<string, { servers: string[]; tools?: string[] }>;

  const open = async () => {
    const person = await browser.signedIn(hub, "groups/dev");
    await by(person.page, "preview-sentence").waitFor();
    return person;
  };

  /** What a client of the group is offered. */
  async function clientTools(): Promise<string[]> {
    const { body } = await ask(hub, "GET /groups/dev/tools", { authorization: `Bearer ${await tokenOf(hub)}` });
    return (JSON.parse(body) as { name: string }[]).map(({ name }) => name);
  }

  it("ticks by keyboard become the fewest rules, and the preview is what clients get", async () => {
    const person = await open();
    const { page } = person;
    const count = async () => Number.parseInt((await by(page, "preview-sentence").textContent()) ?? "", 10);
    await expect.poll(count).toBeGreaterThan(3);
    const all = await count();
    await by(page, "tree:everything").waitFor();
    await by(page, "tree").focus();
    await page.keyboard.press("ArrowRight");
    await by(page, "tree:everything:echo").waitFor();
    for (const key of ["ArrowDown", "Space", "ArrowDown", "ArrowDown", "Shift+Space"]) {
      await page.keyboard.press(key);
    }
    await expect.poll(count).toBe(all - 3);
    await expectAccessible(person);
    await page.locator('[data-test^="seen:"]').first().waitFor();
    await page.keyboard.press("Control+Enter");
    await by(page, "changes").getByText("no changes").waitFor();
    expect((await saved())["dev"]?.tools).toEqual([
      "!everything:echo",
      "!everything:get-annotated-message",
      "!everything:get-env",
    ]);
    expect(await clientTools()).toHaveLength(all - 3);
  });

  it("a second server renames the tools, which is said before it is saved", async () => {
    const { page } = await open();
    await by(page, "tree:memory").click();
    await by(page, "preview-warning").first().waitFor();
    await by(page, "preview").getByText("was echo", { exact: true }).waitFor();
    await by(page, "save").click();
    await by(page, "changes").getByText("no changes").waitFor();
    expect((await saved())["dev"]?.servers).toEqual(["everything", "memory"]);
    expect(await clientTools()).toContain("memory__read_graph");
  });

  it("a rule says what it matches before it is added", async () => {
    const { page } = await open();
    await by(page, "new-rule").fill("!everything:trigger-*");
    await by(page, "rule-matches").getByText("matches 4 tools").waitFor();
    await by(page, "add-rule").click();
    await by(page, "rule:!everything:trigger-*").getByText("keeps out 4").waitFor();
    await by(page, "save").click();
    await by(page, "changes").getByText("no changes").waitFor();
    expect((await clientTools()).filter((name) => name.includes("trigger"))).toEqual([]);
  });

  it("a group that changed meanwhile is not overwritten unless the person says so", async () => {
    const person = await open();
    const { page } = person;
    person.expectFault(/status of 4(09|12)/);
    await by(page, "new-rule").fill("!everything:echo");
    await by(page, "add-rule").click();
    await writeFile(groupFile(), JSON.stringify({ dev: { servers: ["everything"], tools: ["everything:echo"] } }));
    await expect.poll(clientTools).toEqual(["echo"]);
    await by(page, "save").click();
    await by(page, "keep-mine").waitFor();
    expect((await saved())["dev"]?.tools).toEqual(["everything:echo"]);
    await by(page, "keep-mine").click();
    await by(page, "changes").getByText("no changes").waitFor();
    expect((await saved())["dev"]?.tools).toEqual(["!everything:echo"]);
  });

  it("a new group starts as a copy, and the matrix changes who is in it", async () => {
    const person = await browser.signedIn(hub, "groups");
    const { page } = person;
    await by(page, "new-group").click();
    await by(page, "group-name").fill("copy");
    await by(page, "group-start").selectOption({ label: "a copy of dev" });
    await by(page, "create-group").click();
    await by(page, "preview-sentence").waitFor();
    await expect.poll(async () => (await saved())["copy"]?.servers).toEqual(["everything"]);
    await person.go("groups?view=matrix");
    const cell = by(page, "cell:memory:copy");
    await cell.click();
    await expect.poll(() => cell.getAttribute("aria-checked")).toBe("true");
    expect((await saved())["copy"]?.servers).toEqual(["everything", "memory"]);
    await expectAccessible(person);
  });
});
