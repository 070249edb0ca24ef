// The first page of a hub that is in use answers the five questions that bring people to it, without scrolling.

import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { noBrowser, useBrowser } from "../support/browser.ts";
import type { RunningHub } from "../support/hub.ts";
import { startLivedIn } from "../support/lived-in.ts";
import { connect } from "../support/rpc.ts";

const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);

/** Each question, and where its answer is. */
const ANSWERS: Readonly<Record<string, (page: Page) => Locator[]>> = {
  "Does it work?": (page) => [
    page.getByRole("heading", { name: "2 of 3 servers work" }),
    by(page, "attention:broken").getByText("The server exited with code 3"),
    by(page, "attention:broken").locator('[data-test="fix"]'),
  ],
  "What does my client really see?": (page) => [
    page.locator("code", { hasText: "/mcp" }).first(),
    by(page, "client-sees").getByRole("link", { name: /A client sees \d+ tools, ≈[\d.]+k? tokens/ }),
    by(page, "client-sees").locator("code").first(),
    page.getByText("1 client connected"),
  ],
  "What did the agent just do?": (page) => [
    page.getByRole("link", { name: /^501 calls, \d+ failed/ }),
    page.getByRole("heading", { name: "Right now" }),
    page.locator('section[aria-labelledby="now"] li').first().getByText("echo"),
  ],
  "Can I try it myself?": (page) => [by(page, "try-a-tool")],
  "How do I get something in?": (page) => [
    by(page, "add-a-server"),
    page.getByRole("link", { name: "Install in Cursor" }),
    page.getByRole("link", { name: "All clients" }),
  ],
};

/** Whole, in the window as it is, and below nothing. */
function isSeen(answer: Locator): Promise<boolean> {
  return answer.evaluate((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const root = element.ownerDocument.documentElement;
    const above = element.ownerDocument.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    const isInside = left >= 0 && top >= 0 && right <= root.clientWidth && bottom <= root.clientHeight;
    return isInside && (element.contains(above) || above?.contains(element) === true);
  });
}

describe.skipIf(noBrowser !== undefined)(`MG-4 the first page${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let hub: RunningHub;

  beforeAll(async () => {
    hub = await startLivedIn();
    const client = await connect(`${hub.url}/mcp`);
    const called = await client.request("tools/call", { name: "everything__echo", arguments: { message: "hello" } });
    expect(called.result).toMatchObject({ content: [{ text: "Echo: hello" }] });
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
  });

  it.each([
    [1440, 900],
    [1024, 768],
  ])("answers the five questions in a window of %i × %i", async (width, height) => {
    const { page } = await browser.signedIn(hub, "", { viewport: { width, height } });
    const hidden: string[] = [];
    for (const [question, answersIn] of Object.entries(ANSWERS)) {
      for (const answer of answersIn(page)) {
        await answer.waitFor();
        if (!(await isSeen(answer))) hidden.push(`${question} ${answer.toString()}`);
      }
    }
    expect(hidden).toEqual([]);
    expect(await page.evaluate("scrollY")).toBe(0);
  });
});
