// The first run in a real browser: servers of other clients come in, a client gets the hub, its first call is seen; and a server is
// added and tried without a terminal.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";

const TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
const CURSOR = ".cursor/mcp.json";
const CODEX = ".codex/config.toml";

const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);

describe.skipIf(noBrowser !== undefined)(`the first run${noBrowser ?? ""}`, () => {
  let home: Home;
  let hub: RunningHub;
  /** The home folder of the user, with the files of their clients. */
  let user: string;

  beforeEach(async () => {
    home = await makeHome(undefined);
    user = join(home.dir, "user");
    const first = { ...fixture("echo"), env: { API_TOKEN: TOKEN } };
    await write(CURSOR, JSON.stringify({ mcpServers: { first, second: fixture("paged") } }, null, 2));
    const { command, args } = fixture("rich");
    await write(CODEX, `[mcp_servers.third]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`);
    hub = await startHub(home, { env: { HOME: user } });
  });

  afterEach(async () => {
    await hub?.stop();
    await home?.remove();
  });

  const browser = useBrowser();

  async function write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(user, path)), { recursive: true });
    await writeFile(join(user, path), text);
  }

  const read = (path: string) => readFile(join(user, path), "utf8");

  it("MG-4 imports servers, installs the hub in a client as shown before, and shows its first call", async () => {
    const [cursorBefore, codexBefore] = [await read(CURSOR), await read(CODEX)];
    const person = await browser.signedIn(hub);
    const { page } = person;
    await page.waitForURL("**/ui/welcome");
    expect(await page.evaluate("location.hash")).toBe("");
    await by(page, "import:third").getByRole("checkbox").uncheck();
    await expectAccessible(person);
    await by(page, "import").click();
    for (const name of ["first", "second"]) await by(page, `import:${name}`).getByText("running").waitFor();
    expect([await read(CURSOR), await read(CODEX)]).toEqual([cursorBefore, codexBefore]);
    const api = await clientOf(hub);
    expect((await api.servers.list()).map(({ config }) => config.name).toSorted()).toEqual(["first", "second"]);
    expect(await readFile(join(home.dir, "config/mcp_server.json"), "utf8")).not.toContain(TOKEN);

    await by(page, "client:codex").getByRole("checkbox").first().uncheck();
    await by(page, "client:cursor")
      .getByRole("button", { name: /Review/ })
      .click();
    const diff = by(page, "client:cursor").locator('[data-test="diff"]');
    await diff.getByText('"plugboard"').waitFor();
    expect(await diff.textContent()).not.toContain(TOKEN);
    await expectAccessible(person);
    await by(page, "install").click();
    await by(page, "client:cursor").getByText("has the hub, group default").waitFor();
    expect(await read(CODEX)).toBe(codexBefore);
    expect(await api.machine.listBackups()).toMatchObject([{ client: "cursor" }]);

    const { plugboard } = JSON.parse(await read(CURSOR)).mcpServers;
    await by(page, "waiting").waitFor();
    const client = new Client({ name: "cursor", version: "9.9" });
    onTestFinished(() => client.close());
    await client.connect(new StdioClientTransport({ ...plugboard, stderr: "ignore" }));
    await page.getByText("cursor 9.9 connected, group default").waitFor();
    await client.callTool({ name: "first__echo", arguments: { text: "hello" } });
    await page.getByText("cursor called first · echo").waitFor();
    expect(await by(page, "waiting").count()).toBe(0);
    await expectAccessible(person);
    await by(page, "welcome-done").click();
    await page.getByRole("heading", { name: "All 2 servers work" }).waitFor();
    await page.getByRole("link", { name: "1 call", exact: true }).waitFor();
    await expectAccessible(person);
  });

  it("MG-4 a server is added and one of its tools called, without a terminal", async () => {
    const person = await browser.signedIn(hub, "welcome");
    const { page } = person;
    await page.getByRole("link", { name: "Paste a server" }).click();
    const { command, args } = fixture("echo");
    await by(page, "paste").fill([command, ...args].join(" "));
    await by(page, "add-name").fill("mine");
    await by(page, "add-button").click();
    await by(page, "added:mine").getByText("running").waitFor();
    await expectAccessible(person);
    await page.getByRole("link", { name: "Go to mine" }).click();
    await by(page, "tab:tools").click();
    await by(page, "tool:echo").getByRole("link").first().click();
    await by(page, "try").waitFor();
    await by(page, "arg:/text").locator("input, textarea").first().fill("by hand");
    await by(page, "run").click();
    await by(page, "rendered").getByText("by hand").waitFor();
    await expectAccessible(person);
    await person.go("servers/mine?tab=calls");
    await page.locator('[data-test^="call:"]').first().waitFor();
    await expectAccessible(person);
  });
});
