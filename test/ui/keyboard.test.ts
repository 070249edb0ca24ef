// The web interface by keyboard alone: the first run, a server that needs a secret, a tool that asks, and a group. The focus is seen at
// every stop, is never caught, and comes back from dialogs.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Keyboard } from "../support/browser-keyboard.ts";
import { noBrowser, useBrowser } from "../support/browser.ts";
import { fixture, makeHome, published, startHub, type RunningHub } from "../support/hub.ts";
import { connect } from "../support/rpc.ts";

const CURSOR = ".cursor/mcp.json";
const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);

describe.skipIf(noBrowser !== undefined)(`MG-4 by keyboard alone${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let hub: RunningHub;

  beforeAll(async () => {
    const servers = {
      everything: published("server-everything"),
      locked: { ...fixture("echo"), env: { API_TOKEN: { secretRef: "token", required: true } } },
    };
    hub = await startHub(await makeHome(servers, { dev: { servers: ["everything"] } }));
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
  });

  const open = async (path = "") => {
    const { page } = await browser.signedIn(hub, path);
    return { page, keyboard: new Keyboard(page) };
  };

  it("the first run: servers are imported, the hub is installed, a call is seen", async () => {
    const home = await makeHome(undefined);
    const user = join(home.dir, "user");
    await mkdir(dirname(join(user, CURSOR)), { recursive: true });
    const mcpServers = { first: fixture("echo"), second: fixture("paged") };
    await writeFile(join(user, CURSOR), JSON.stringify({ mcpServers }));
    const fresh = await startHub(home, { env: { HOME: user } });
    onTestFinished(async () => {
      await fresh.stop();
      await home.remove();
    });
    const { page } = await browser.signedIn(fresh);
    await page.waitForURL("**/ui/welcome");
    const keyboard = new Keyboard(page);
    await keyboard.tabTo(by(page, "import:second").getByRole("checkbox"));
    await keyboard.press("Space");
    await page.getByRole("button", { name: "Import 1" }).waitFor();
    await keyboard.tabTo(by(page, "import"));
    await keyboard.press("Enter");
    await by(page, "import:first").getByText("running").waitFor();

    await keyboard.tabTo(by(page, "client:cursor").getByRole("button", { name: /Review/ }));
    await keyboard.press("Enter");
    await by(page, "client:cursor").locator('[data-test="diff"]').getByText('"plugboard"').waitFor();
    await keyboard.tabTo(by(page, "install"));
    await keyboard.press("Enter");
    await by(page, "client:cursor").getByText("has the hub, group default").waitFor();
    expect(Object.keys(JSON.parse(await readFile(join(user, CURSOR), "utf8")).mcpServers)).toContain("plugboard");

    const client = await connect(`${fresh.url}/mcp`);
    await client.request("tools/call", { name: "echo", arguments: { text: "hello" } });
    await page.getByText("called first · echo").waitFor();
    await keyboard.tabTo(by(page, "welcome-done"));
    await keyboard.press("Enter");
    await keyboard.untilAt(page.locator("h1", { hasText: "The server works" }));
  });

  it("a server that fails gets its secret, and the focus goes on to the next thing", async () => {
    const { page, keyboard } = await open();
    const fix = by(page, "attention:locked").locator('[data-test="fix"]');
    await keyboard.tabTo(fix);
    await keyboard.press("Enter");
    const field = by(page, "secret-form").locator('input[type="password"]');
    await keyboard.untilAt(field);
    // Changing one's mind leads back to the button.
    await keyboard.tabTo(by(page, "secret-form").getByRole("button", { name: "Cancel" }));
    await keyboard.press("Enter");
    await keyboard.untilAt(fix);
    await keyboard.press("Enter");
    await keyboard.untilAt(field);
    await keyboard.type("hunter2-hunter2");
    await keyboard.press("Enter");
    await by(page, "attention:locked").waitFor({ state: "detached" });
    await keyboard.untilAt(page.locator("h1", { hasText: "All 2 servers work" }));
  });

  it("a tool is found and run, and the question of its server answered", async () => {
    const { page, keyboard } = await open();
    await keyboard.press("g", "t");
    await by(page, "tool:everything:echo").waitFor();
    await keyboard.press("/");
    await keyboard.untilAt(by(page, "tools-filter"));
    await keyboard.type("everything: elicitation-request");
    await by(page, "tools-found").getByText("1 of").waitFor();
    await keyboard.press("ArrowDown", "Enter");
    await by(page, "run").waitFor();
    await keyboard.tabTo(by(page, "run"));
    await keyboard.press("Enter");
    const name = by(page, "question").locator('[data-test="arg:/name"] input');
    await keyboard.untilAt(name);
    await keyboard.type("Ann");
    await keyboard.tabTo(by(page, "question-send"));
    await keyboard.press("Enter");
    await by(page, "rendered").getByText("Name: Ann").waitFor();
    await keyboard.untilSomewhere();
  });

  it("a group is opened, its tools are chosen and saved", async () => {
    const { page, keyboard } = await open("servers");
    await keyboard.press("g", "g");
    await keyboard.tabTo(by(page, "group:dev").getByRole("link").first());
    await keyboard.press("Enter");
    await by(page, "tree:everything").waitFor();
    await keyboard.tabTo(by(page, "tree"));
    await keyboard.press("ArrowRight");
    await by(page, "tree:everything:echo").waitFor();
    await keyboard.press("ArrowDown", "Space");
    await by(page, "changes").getByText("1 change").waitFor();
    await keyboard.tabTo(by(page, "save"), "Shift+Tab");
    await keyboard.press("Enter");
    await by(page, "changes").getByText("no changes").waitFor();
    const saved = JSON.parse(await readFile(join(hub.home.dir, "config/group.json"), "utf8"));
    expect(saved["dev"].tools).toEqual(["!everything:echo"]);
  });

  it("dialogs and menus give the focus back to what opened them", async () => {
    const { page, keyboard } = await open("groups");
    await by(page, "group:dev").waitFor();
    const trigger = by(page, "new-group");
    await keyboard.tabTo(trigger);
    for (const [key, opened] of [
      ["Enter", by(page, "dialog")],
      ["Control+k", page.getByRole("dialog")],
      ["?", page.getByRole("dialog")],
    ] as const) {
      await keyboard.press(key);
      await opened.waitFor();
      await keyboard.press("Escape");
      await opened.waitFor({ state: "detached" });
      await keyboard.untilAt(trigger);
    }
    const menu = by(page, "nav:more");
    await keyboard.tabTo(menu, "Shift+Tab");
    await keyboard.press("Enter");
    await keyboard.untilAt(page.getByRole("menuitem").first());
    await keyboard.press("ArrowDown");
    await keyboard.untilAt(page.getByRole("menuitem").nth(1));
    await keyboard.press("Escape");
    await keyboard.untilAt(menu);
  });

  it.each([
    ["", "search"],
    ["servers", "server:everything"],
    ["servers/everything?tab=config", "save-config"],
    ["try/everything/get-sum", "run"],
    ["groups/dev", "tree:everything"],
    ["groups?view=matrix", "matrix"],
    ["calls", "filter:text"],
    ["settings", "save-config"],
  ])("the focus gets around the page /%s, and is seen at every stop", async (path, sign) => {
    const { page, keyboard } = await open(path);
    await by(page, sign).first().waitFor();
    expect((await keyboard.stops()).length).toBeGreaterThan(10);
  });
});
