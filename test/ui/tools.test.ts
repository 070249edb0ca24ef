// The list of tools with ten thousand of them, and with those of a hostile server.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";

const SERVERS = 5;
const TOOLS = 2000;

/** As text, because `__proto__` in a literal would not be a member. */
const HOSTILE = String.raw`{
  "tools": [
    {
      "name": "a<img src=x onerror=window.hacked=1>",
      "description": "<script>window.hacked=1</script> [click](javascript:window.hacked=1) ![p](https://evil.example/p.png)\nIgnore\u202e the \u200bperson \u001b[31mred",
      "inputSchema": {
        "type": "object",
        "properties": { "__proto__": { "type": "string", "description": "<b onclick=window.hacked=1>x</b>" }, "constructor": { "type": "string" } }
      }
    }
  ],
  "results": {
    "a<img src=x onerror=window.hacked=1>": {
      "content": [
        { "type": "text", "text": "# <img src=x onerror=window.hacked=1>\n[a](javascript:window.hacked=1) <script>window.hacked=1</script> \u202eabc" },
        { "type": "image", "mimeType": "image/png", "data": "PHNjcmlwdD53aW5kb3cuaGFja2VkPTE8L3NjcmlwdD4=" },
        { "type": "resource", "resource": { "uri": "javascript:window.hacked=1", "mimeType": "text/html", "text": "<script>window.hacked=1</script>" } }
      ]
    }
  }
}`;

/** Types into the filter, waits for the frame with the result, and clears it again. */
const FILTER_MS = `(async () => {
  const filter = document.querySelector('[data-test="tools-filter"]');
  const type = (text) => {
    filter.value = text;
    filter.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const start = performance.now();
  type("number_19");
  await frame();
  const took = Math.round(performance.now() - start);
  type("");
  await frame();
  return took;
})()`;

const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);

describe.skipIf(noBrowser !== undefined)(`the list of tools${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let hub: RunningHub;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "plugboard-tools-"));
    const names = Array.from({ length: SERVERS }, (_, index) => `many${index}`);
    for (const name of names) {
      const tools = Array.from({ length: TOOLS }, (_, index) => ({
        name: `tool_number_${index}`,
        description: `Number ${index} of ${name}`,
        inputSchema: { type: "object", properties: {} },
      }));
      await writeFile(join(folder, `${name}.json`), JSON.stringify({ tools }));
    }
    await writeFile(join(folder, "hostile.json"), HOSTILE);
    const servers = [...names, "hostile"].map((name) => [name, fixture("lists", join(folder, `${name}.json`))]);
    hub = await startHub(await makeHome(Object.fromEntries(servers)));
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it("ten thousand tools are a few rows of the document, filtered as one types", async () => {
    const person = await browser.signedIn(hub, "tools");
    const { page } = person;
    const rows = page.locator('[role="option"]');
    await rows.first().waitFor();
    expect(await rows.first().getAttribute("aria-setsize")).toBe(String(SERVERS * TOOLS + 1));
    expect(await rows.count()).toBeLessThanOrEqual(60);
    await expectAccessible(person);

    await by(page, "tools-filter").fill("many3: number_1999");
    await by(page, "tools-found").getByText("1 of 10,001 tools").waitFor();
    await by(page, "tool:many3:tool_number_1999").waitFor();
    await by(page, "tools-filter").fill("");
    await by(page, "tools-found").getByText("10,001 tools", { exact: true }).waitFor();

    const filterMs = await page.evaluate<number>(FILTER_MS);
    process.stderr.write(`filter of ${SERVERS * TOOLS} tools, from the key to the next frame: ${filterMs} ms\n`);
    await by(page, "tools-found").getByText("10,001 tools", { exact: true }).waitFor();

    await page.locator('[role="listbox"]').focus();
    await page.keyboard.press("End");
    await by(page, "tool:hostile:a<img src=x onerror=window.hacked=1>").waitFor();
    expect(await rows.count()).toBeLessThanOrEqual(60);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await by(page, "run").waitFor();
    expect(new URL(page.url()).pathname).toBe("/ui/try/many4/tool_number_1999");

    await page.keyboard.press("Control+k");
    await by(page, "palette").waitFor();
    await page.keyboard.type("many2 number_1234");
    await by(page, "palette").getByRole("option", { selected: true }).getByText("tool_number_1234").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/ui/try/many2/tool_number_1234**");
    await by(page, "run").waitFor();
  });

  it("names, descriptions and answers of a hostile server are only text", async () => {
    const name = "a<img src=x onerror=window.hacked=1>";
    const person = await browser.signedIn(hub, `try/hostile/${encodeURIComponent(name)}`);
    const { page } = person;
    await by(page, "run").waitFor();
    await page.getByText("⟨U+202E⟩").first().waitFor();
    await page.getByText("⟨U+200B⟩").first().waitFor();
    await page.getByText("image from evil.example, not loaded").waitFor();
    await by(page, "arg:/__proto__").locator("input").fill("value");
    await by(page, "run").click();
    await by(page, "rendered").getByText("<script>window.hacked=1</script>").first().waitFor();
    await by(page, "rendered").getByText("This says it is image/png, but its bytes are not.").waitFor();
    expect(await page.locator("main a[href^='javascript']").count()).toBe(0);
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.evaluate("({}).value ?? Object.prototype.polluted")).toBeUndefined();
    await expect.poll(() => new URL(page.url()).searchParams.get("args")).toBe('{"__proto__":"value"}');
    await expectAccessible(person);
  });
});
