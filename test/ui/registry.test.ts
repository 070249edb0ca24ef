// The registry in a real browser: search, what a server needs, and adding it.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { FakeRegistry, npmServer } from "../support/fake-registry.ts";
import { makeHome, startHub, type RunningHub } from "../support/hub.ts";

const SECRET = "planted-secret-value";

let hub: RunningHub;
let fake: FakeRegistry;

beforeAll(async () => {
  fake = await FakeRegistry.open([
    npmServer("io.example/tickets", { environmentVariables: [{ name: "TICKETS_MODE", choices: ["read", "write"] }] }),
  ]);
  const home = await makeHome({});
  const registries = ["curated", { name: "company", url: fake.url }];
  await writeFile(join(home.dir, "config/hub.json"), JSON.stringify({ registries }));
  hub = await startHub(home);
});

afterAll(async () => {
  await hub?.stop();
  await hub?.home.remove();
  await fake.close();
});

const browser = useBrowser();
const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);

describe.skipIf(noBrowser !== undefined)(`RG-1 MG-4 the registry${noBrowser ?? ""}`, () => {
  it("RG-1 finds a server, says what it needs, and adds it", async () => {
    const person = await browser.signedIn(hub, "registry");
    const { page } = person;
    page.setDefaultTimeout(15_000);
    person.expectFault(/status of 400/);
    await page.getByText("Filesystem", { exact: true }).waitFor();
    await by(page, "registry-words").fill("brave");
    await by(page, "registry-where").selectOption("");
    await by(page, "registry-search").click();
    await page.getByRole("link", { name: "Brave Search" }).click();
    await by(page, "registry-runs").getByText("npx -y @brave/brave-search-mcp-server@").waitFor();
    await expectAccessible(person);
    await by(page, "registry-add").click();
    await page.getByText("Missing required credentials: BRAVE_API_KEY").waitFor();
    const config = join(hub.home.dir, "config/mcp_server.json");
    expect(await readFile(config, "utf8"), "MC-NT4").not.toContain("brave");
    await by(page, "input:BRAVE_API_KEY").fill(SECRET);
    await by(page, "registry-as").fill("web-search");
    await by(page, "registry-add").click();
    await page.waitForURL(/\/servers\/web-search$/);
    const text = await readFile(config, "utf8");
    expect(JSON.parse(text).mcpServers["web-search"]).toMatchObject({
      source: { registry: "curated", name: "brave-search" },
    });
    expect(text).not.toContain(SECRET);
    await person.go("registry?q=brave&registry=curated");
    await page.getByText("added as web-search").waitFor();
  });

  it("RG-1 says which registry could not be searched, and shows the others", async () => {
    fake.mood = 500;
    const person = await browser.signedIn(hub, "registry?q=time");
    const { page } = person;
    await by(page, "registry-where").selectOption("");
    await by(page, "registry-problem")
      .getByText("company could not be searched: company answered with HTTP status 500")
      .waitFor();
    await page.getByRole("link", { name: "Time" }).waitFor();
    await expectAccessible(person);
    fake.mood = "well";
  });
});
