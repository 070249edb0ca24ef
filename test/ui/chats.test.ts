// The Chats page in a real browser, with a real chat server behind the hub.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { chat, CHAT_BIN, makeChatHome, message, person as someone, type ChatHome } from "../support/chat/client.ts";
import { makeHome, startHub, type RunningHub } from "../support/hub.ts";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const WIDE = { viewport: { width: 1440, height: 900 } };
const START = Date.parse("2025-03-01T10:00:00Z");
const MINUTE_MS = 60_000;
const LONG = 450;

const EVENTS = [
  chat("fam", "Family", "group", 3),
  chat("work", "Work \u202Egnp.exe", "group", 5),
  someone("ann", "Ann"),
  someone("bob", "Bob <b>bold</b>"),
  ...Array.from({ length: LONG }, (_, n) =>
    message(
      "fam",
      `m${n}`,
      n % 2 === 0 ? "ann" : "bob",
      START + n * MINUTE_MS,
      n === 40 ? "Pizza tonight?" : `line ${n}`,
    ),
  ),
  message("work", "w1", "bob", START, '<img src=x onerror="alert(1)"> the invoice is paid, call +358 40 123 4567'),
];

describe.skipIf(noBrowser !== undefined)(`MG-4 chats${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let home: ChatHome;
  let hub: RunningHub;

  beforeAll(async () => {
    home = await makeChatHome({ net: { events: EVENTS } });
    const entry = { command: process.execPath, args: [CHAT_BIN], env: { PLUGBOARD_CHAT_HOME: home.dir } };
    hub = await startHub(await makeHome({ talk: entry }));
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
    await home?.remove();
  });

  /** A real client on the endpoint of the default group. */
  async function connectAgent(name: string) {
    const agent = new Client({ name, version: "1" });
    await agent.connect(new StreamableHTTPClientTransport(new URL(`${hub.url}/mcp`)));
    const ask = async (tool: string, args = {}) =>
      JSON.stringify(await agent.callTool({ name: tool, arguments: args }));
    return { ask, close: () => agent.close() };
  }

  it("a chat is read back to its first message, with few rows in the document", async () => {
    const person = await browser.signedIn(hub, "chats", WIDE);
    const { page } = person;
    await page.locator('[data-test="chat:net:fam"]').click();
    await page.locator(`[data-test="message:m${LONG - 1}"]`).waitFor();
    const list = page.locator('[data-test="messages"]');
    await expect
      .poll(async () => {
        await list.evaluate((element) => void (element.scrollTop = 0));
        return page.locator('[data-test="message:m0"]').count();
      })
      .toBe(1);
    expect(await page.locator('[data-test^="message:"]').count()).toBeLessThan(80);
    await expectAccessible(person);
  });

  it("a search finds a message, and its link opens the chat at that place", async () => {
    const person = await browser.signedIn(hub, "chats", WIDE);
    const { page } = person;
    await page.locator('[data-test="chat-search"]').fill("pizza");
    const hit = page.locator('[data-test="hit:m40"]');
    await hit.waitFor();
    expect(await hit.textContent()).toContain("line 41");
    await expectAccessible(person);
    await page.locator('[data-test="search-sender"]').fill("Bob");
    await expect.poll(() => page.locator('[data-test="hits"]').textContent()).toContain("Nothing found");
    await page.locator('[data-test="search-sender"]').fill("");
    await hit.getByRole("link", { name: "Family" }).click();
    await page.locator('[data-test="message:m40"]').waitFor();
    expect(new URL(page.url()).searchParams.get("message")).toBe("m40");
    await page.reload();
    const target = page.locator('[data-test="message:m40"]');
    await target.waitFor();
    await expect.poll(() => target.evaluate((row) => row.getBoundingClientRect().top > 100)).toBe(true);
    expect(await page.locator('[data-test="newest"]').isVisible()).toBe(true);
  });

  it("a message that arrives is shown by itself", async () => {
    const { page } = await browser.signedIn(hub, "chats?source=net&chat=fam", WIDE);
    await page.locator(`[data-test="message:m${LONG - 1}"]`).waitFor();
    await home.append("net", message("fam", "new", "ann", Date.now(), "just now", { origin: "live" }));
    await page.locator('[data-test="message:new"]').waitFor();
  });

  it("a chat that is hidden here is gone for an agent, and back when it is shown again", async () => {
    const agent = await connectAgent("reader");
    expect(await agent.ask("list_chats")).toContain("Family");
    const person = await browser.signedIn(hub, "chats?source=net&chat=fam", WIDE);
    const { page } = person;
    const access = page.locator('[data-test="access"]');
    await access.selectOption("hidden");
    await page.locator('[data-test="is-hidden"]').waitFor();
    await expect.poll(() => agent.ask("list_chats")).not.toContain("Family");
    expect(await agent.ask("search_messages", { query: "pizza" })).not.toContain("Pizza");
    await expect.poll(() => page.locator('[data-test="reads:reader"]').first().textContent()).toContain("1 search");
    await expect.poll(() => page.locator('[data-test="chat:net:fam"]').textContent()).toContain("hidden from agents");
    await expectAccessible(person);
    await access.selectOption("readable");
    await expect.poll(() => agent.ask("list_chats")).toContain("Family");
    await page
      .locator(`[data-test="message:m${LONG - 1}"]`)
      .or(page.locator('[data-test="message:new"]'))
      .first()
      .waitFor();
    await agent.close();
  });

  it("redaction is set for all agents", async () => {
    const agent = await connectAgent("reader");
    const person = await browser.signedIn(hub, "chats", WIDE);
    const { page } = person;
    await page.locator('[data-test="policy"]').click();
    await page.locator('[data-test="redact:phone"]').check();
    await expectAccessible(person);
    await page.locator('[data-test="save-policy"]').click();
    await expect.poll(() => page.locator('[data-test="dialog"]').count()).toBe(0);
    await expect.poll(() => agent.ask("get_messages", { source: "net", chat: "work" })).toContain("[phone-1]");
    await agent.close();
  });

  it("T30 names and texts of strangers are text, and characters that would not be seen are shown", async () => {
    const { page } = await browser.signedIn(hub, "chats?source=net&chat=work", WIDE);
    const row = page.locator('[data-test="message:w1"]');
    await row.waitFor();
    expect(await row.textContent()).toContain('<img src=x onerror="alert(1)">');
    expect(await row.textContent()).toContain("Bob <b>bold</b>");
    expect(await page.locator("main img").count()).toBe(0);
  });
});
