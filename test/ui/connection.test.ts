// The web interface while the hub goes and comes back, while its config changes, behind a proxy, and after an update.

import { readFile, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { connect } from "../support/rpc.ts";
import { listen } from "../support/sockets.ts";

const GONE =
  /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_NETWORK/;

describe.skipIf(noBrowser !== undefined)(`the web interface${noBrowser ?? ""}`, () => {
  let home: Home;
  let hub: RunningHub;

  beforeEach(async () => {
    home = await makeHome({ first: fixture("echo"), second: fixture("echo") });
    hub = await startHub(home);
  });

  afterEach(async () => {
    await hub?.stop();
    await home?.remove();
  });

  const browser = useBrowser();

  const restart = async () => {
    hub = await startHub(home, { args: ["--port", new URL(hub.url).port] });
  };

  /** Changes the config as an editor would. */
  const edit = async (change: (text: string) => string) => {
    const path = join(home.dir, "config", "mcp_server.json");
    await writeFile(path, change(await readFile(path, "utf8")));
  };

  /** How many tries there may be at most: each pause is longer than the one before, and varies by a quarter. */
  const triesWithin = (ms: number) => {
    const pauses = [1000, 2000, 4000, 8000];
    let tries = 0;
    for (let left = ms; left > 0; tries++) left -= (pauses[tries] ?? 15_000) * 0.75;
    return tries;
  };

  it("keeps what it shows while the hub is gone, tries again with pauses, and is right afterwards", async () => {
    const person = await browser.signedIn(hub, "servers");
    person.expectFault(GONE);
    const { page } = person;
    await page.getByRole("link", { name: "second", exact: true }).waitFor();
    await page.getByRole("button", { name: "Hub: live" }).waitFor();
    let requests = 0;
    page.on("request", () => requests++);
    const killedAt = performance.now();
    await hub.kill();
    await page.locator('[data-test="banner:hub"]').waitFor();
    await page.getByRole("link", { name: "second", exact: true }).waitFor();
    await expectAccessible(person);
    await expect.poll(() => requests, { interval: 100 }).toBeGreaterThanOrEqual(3);
    const made = requests;
    expect(made).toBeLessThanOrEqual(triesWithin(performance.now() - killedAt));
    await edit((text) => text.replace('"second"', '"third"'));
    await restart();
    await page.getByRole("button", { name: "Retry now" }).click();
    await page.locator('[data-test="banner:hub"]').waitFor({ state: "detached" });
    await page.getByRole("link", { name: "third", exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "second", exact: true }).count()).toBe(0);
  });

  it("shows a config that is edited on disk, without a reload", async () => {
    const { page } = await browser.signedIn(hub, "servers");
    await page.getByRole("link", { name: "second", exact: true }).waitFor();
    await page.getByRole("button", { name: "Hub: live" }).waitFor();
    await edit((text) => text.replace('"second"', '"renamed"'));
    await page.getByRole("link", { name: "renamed", exact: true }).waitFor();
    await page.getByRole("link", { name: "second", exact: true }).waitFor({ state: "detached" });
  });

  it("MG-4 says where a config is broken on disk, goes on with the one before, and takes the repaired one", async () => {
    const person = await browser.signedIn(hub, "servers");
    person.expectFault(/status of 400/);
    const { page } = person;
    await page.getByRole("link", { name: "second", exact: true }).waitFor();
    const good = await readFile(join(home.dir, "config", "mcp_server.json"), "utf8");
    await edit((text) => text.replace('"second"', '"second" oops'));
    const banner = page.locator('[data-test="banner:config"]');
    await banner.getByText(/mcp_server\.json is not valid JSON: .* at .*\d/).waitFor();
    await expectAccessible(person);
    // The servers of before still answer.
    const client = await connect(`${hub.url}/mcp`);
    const { result } = await client.request("tools/call", { name: "second__echo", arguments: { text: "goes on" } });
    expect(result).toMatchObject({ content: [{ text: "goes on" }] });
    await banner.getByRole("link", { name: "Open the editor" }).click();
    // A text that cannot be read may have secrets anywhere, so that its place is shown, not the text.
    await page.locator("main").getByText("mcp_server.json is not valid JSON").waitFor();
    expect(await page.locator("main").textContent()).not.toContain("oops");
    await edit(() => good.replace('"second"', '"third"'));
    await banner.waitFor({ state: "detached" });
    await person.go("servers");
    await page.getByRole("link", { name: "third", exact: true }).waitFor();
  });

  it("two tabs that edit one server: the second sees the other's change before it saves", async () => {
    const person = await browser.signedIn(hub, "servers/first?tab=config");
    person.expectFault(/status of 409/);
    const tabs = [person.page, await person.context.newPage()];
    await tabs[1]?.goto(`${hub.url}/ui/servers/first?tab=config`);
    for (const tab of tabs) await tab.getByLabel("Description").waitFor();
    for (const [number, tab] of tabs.entries()) {
      await tab.getByLabel("Description").fill(`by tab ${number + 1}`);
    }
    await tabs[0]?.locator('[data-test="save-config"]').click();
    await expect.poll(() => readFile(join(home.dir, "config", "mcp_server.json"), "utf8")).toContain("by tab 1");
    await tabs[1]?.locator('[data-test="save-config"]').click();
    await tabs[1]?.locator('[data-test="keep-mine"]').waitFor();
    expect(await readFile(join(home.dir, "config", "mcp_server.json"), "utf8")).toContain("by tab 1");
    await tabs[1]?.locator('[data-test="keep-mine"]').click();
    await expect.poll(() => readFile(join(home.dir, "config", "mcp_server.json"), "utf8")).toContain("by tab 2");
  });

  it("works under a prefix of a proxy", async () => {
    const prefix = "/x/y";
    const proxy = createServer((incoming, outgoing) => {
      if (incoming.url?.startsWith(`${prefix}/`) !== true) return void outgoing.writeHead(404).end();
      const headers = { ...incoming.headers, "x-forwarded-prefix": prefix };
      const path = incoming.url.slice(prefix.length);
      const sent = request(hub.url + path, { method: incoming.method, headers, setHost: false }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      sent.on("error", () => outgoing.destroy());
      outgoing.on("close", () => sent.destroy());
      incoming.pipe(sent);
    });
    onTestFinished(() => void proxy.close());
    const url = `http://127.0.0.1:${await listen(proxy)}${prefix}`;
    const { page, context } = await browser.signedIn(hub, "servers/first", { url });
    await page.getByRole("heading", { name: "first" }).waitFor();
    await page.getByRole("button", { name: "Hub: live" }).waitFor();
    expect((await context.cookies(`${url}/api`)).map(({ path }) => path)).toEqual([`${prefix}/api`]);
    await page.goto(`${url.replace(prefix, "")}${prefix}/`);
    await page.waitForURL(`${url}/ui/`);
  });

  it("says that there is a new version if a file of the old one is gone", async () => {
    const person = await browser.signedIn(hub, "servers");
    person.expectFault(/status of 404/);
    await person.context.route("**/ui/assets/*.js", (route) => route.fulfill({ status: 404 }));
    await person.page.locator('[data-test="nav:/secrets"]').click();
    await person.page.getByRole("button", { name: "Reload" }).waitFor();
    await person.context.unroute("**/ui/assets/*.js");
    await person.page.getByRole("button", { name: "Reload" }).click();
    await person.page.getByRole("heading", { name: "Secrets" }).waitFor();
  });
});
