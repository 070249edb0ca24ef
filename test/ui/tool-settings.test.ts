// The settings of a tool in a group, in a real browser: what is set there is what an MCP client lists and calls.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { misfits } from "../support/browser-layout.ts";
import { clientOf } from "../support/client.ts";
import { makeHome, published, startHub, type RunningHub } from "../support/hub.ts";
import { connectV2 } from "../support/sdk-readers.ts";

const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);
const SUM = "everything:get-sum";

describe.skipIf(noBrowser !== undefined)(`settings of tools in the browser${noBrowser ?? ""}`, () => {
  let hub: RunningHub;

  beforeAll(async () => {
    const home = await makeHome({ everything: published("server-everything") }, { dev: { servers: ["everything"] } });
    hub = await startHub(home);
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
  });

  // After the hub, so that its pages are closed before.
  const browser = useBrowser();

  async function openSettings() {
    const person = await browser.signedIn(hub, "groups/dev");
    const { page } = person;
    await by(page, "preview-sentence").waitFor();
    await by(page, "tree-filter").fill("get-sum");
    await by(page, `settings:${SUM}`).click();
    await by(page, "tool-as").waitFor();
    return person;
  }

  const argument = (page: Page, name: string) => page.getByLabel(`Value of ${name}`, { exact: true });

  const save = async (page: Page) => {
    await by(page, "apply-tool").click();
    await by(page, "dialog").waitFor({ state: "detached" });
    await by(page, "save").click();
    await by(page, "changes").getByText("no changes").waitFor();
  };

  const settings = async () => {
    const { tools } = await (await clientOf(hub)).groups.get("dev");
    return Array.isArray(tools) ? undefined : tools[SUM];
  };

  it("RG-4 a tool is renamed and an argument fixed, as a client then sees it; reset undoes it", async () => {
    const person = await openSettings();
    const { page } = person;
    expect(await by(page, "original-name").textContent()).toBe(SUM);
    await by(page, "tool-as").fill("add_ten");
    await by(page, "tool-description").fill("Adds ten");
    await by(page, "tool-approve").selectOption("never");
    await by(page, "mode:b").selectOption("fixed");
    await argument(page, "b").fill("10");
    await expectAccessible(person);
    for (const layout of ["plain", "from right to left"] as const)
      expect(await misfits(page, layout, [1440, 1024, 360])).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await save(page);
    await by(page, "seen:add_ten").waitFor();
    await expectAccessible(person);
    expect(await settings()).toEqual({
      as: "add_ten",
      description: "Adds ten",
      approve: "never",
      arguments: { b: { const: 10 } },
    });

    const client = await connectV2(`${hub.url}/groups/dev/mcp`, "modern");
    const { tools } = await client.listTools();
    const added = tools.find(({ name }) => name === "add_ten");
    expect(added).toMatchObject({ description: "Adds ten", inputSchema: { required: ["a"] } });
    expect(Object.keys(added?.inputSchema.properties ?? {})).toEqual(["a"]);
    expect(tools.length).toBeGreaterThan(3);
    expect(JSON.stringify(await client.callTool({ name: "add_ten", arguments: { a: 5 } }))).toContain("15");

    await by(page, `settings:${SUM}`).click();
    await by(page, "tool-as").waitFor();
    expect(await argument(page, "b").inputValue()).toBe("10");
    await by(page, "reset-tool").click();
    await save(page);
    expect(await settings()).toBeUndefined();
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("get-sum");
    await client.close();
  });

  it("what the hub refuses is shown at its field, and nothing is changed", async () => {
    const person = await openSettings();
    const { page } = person;
    person.expectFault(/status of 4\d\d/);
    await by(page, "tool-as").fill("two words");
    await by(page, "apply-tool").click();
    await by(page, "field:Name").getByText("as must have 1 to 64 letters").waitFor();
    await by(page, "tool-as").fill("add");
    await by(page, "mode:b").selectOption("fixed");
    await by(page, "apply-tool").click();
    await by(page, "arg:/b").getByText("Enter the value that the hub sends").waitFor();
    await argument(page, "b").fill("many");
    await by(page, "apply-tool").click();
    await by(page, "arg:/b").getByText('the value of "b" does not fit its schema').waitFor();
    expect(await by(page, "mode:a").locator("option[value=hidden]").isDisabled()).toBe(true);
    await expectAccessible(person);
    await page.keyboard.press("Escape");
    await by(page, "dialog").waitFor({ state: "detached" });
    await by(page, "changes").getByText("no changes").waitFor();
  });

  it("the keyboard reaches the settings from the tree", async () => {
    const { page } = await browser.signedIn(hub, "groups/dev");
    await by(page, "tree:everything").waitFor();
    await by(page, "tree").focus();
    await page.keyboard.press("ArrowRight");
    await by(page, "tree:everything:echo").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("s");
    await by(page, "original-name").getByText("everything:echo").waitFor();
    await page.keyboard.press("Escape");
    await by(page, "settings:everything:echo").focus();
    await page.keyboard.press("Enter");
    await by(page, "tool-as").waitFor();
  });
});
