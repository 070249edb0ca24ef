// Every screen of the web interface, with data: readable for all in both themes, on small screens, with wider text, longer words and
// from right to left, without motion, with more contrast and with the colours of the reader.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, useBrowser, type Person } from "../support/browser.ts";
import { misfits } from "../support/browser-layout.ts";
import { CLIENT_SECRET, startLivedIn } from "../support/lived-in.ts";
import type { RunningHub } from "../support/hub.ts";

const REGISTRY = readFileSync(join(import.meta.dirname, "../../ui/src/screens/index.ts"), "utf8");
const PARAMS: Readonly<Record<string, string>> = {
  "/servers/:name": "servers/everything",
  "/groups/:name": "groups/dev",
  "/try/:server/:tool": "try/everything/echo",
  "/registry/:name": "registry/brave-search?registry=curated",
};
/** Views of screens that differ from the first one. */
const MORE = [
  "servers/broken",
  "servers/everything?tab=tools",
  "servers/everything?tab=config",
  "calls?view=timeline",
  "groups?view=matrix",
  "stats?by=server",
];
const paths = [...REGISTRY.matchAll(/path: "([^"]+)"/g)].map(([, path = ""]) => PARAMS[path] ?? path.slice(1));

/** 320 pixels are a window of 1280 at 400 %. */
const WIDTHS = [1280, 1024, 1000, 860, 360, 320];
/** Animations that take longer than the blink that replaces them. */
const MOVING = `document.getAnimations().filter(({ effect }) => effect.getComputedTiming().activeDuration > 20).length`;
/** Signs that cannot be seen: without a size, or in the colour of the page. */
const LOST = `[...document.querySelectorAll("main svg")].filter((sign) => {
  if (!sign.checkVisibility()) return false;
  const { width, height } = sign.getBoundingClientRect();
  return width === 0 || height === 0 || getComputedStyle(sign).color === getComputedStyle(document.body).backgroundColor;
}).length`;
/** Decorative lines and faint text get the stronger colours. */
const CONTRAST = `(() => {
  const style = getComputedStyle(document.documentElement);
  const [line, strong, faint, ink] = ["--line", "--line-strong", "--ink-3", "--ink-2"].map((name) => style.getPropertyValue(name));
  return line === strong && faint === ink;
})()`;

describe.skipIf(noBrowser !== undefined)(`MG-4 every screen${noBrowser ?? ""}`, () => {
  const browser = useBrowser({ keepPages: true });
  let hub: RunningHub;
  let person: Person;

  beforeAll(async () => {
    hub = await startLivedIn();
    person = await browser.signedIn(hub);
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
  });

  it("knows an address for each path of the registry", () => {
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => path.includes(":"))).toEqual([]);
  });

  it.each([...paths, ...MORE].map((path) => `/${path}`))("%s", async (path) => {
    const { page } = person;
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ reducedMotion: null, forcedColors: null, contrast: null });
    await person.go(path.slice(1));
    await page.locator("main h1").waitFor();
    await page.waitForLoadState("load");
    await expect.poll(() => page.locator('main [data-test="loading"]').count()).toBe(0);

    await expectAccessible(person);
    expect(await page.content()).not.toContain(CLIENT_SECRET);

    // expectAccessible has asked for less motion.
    await page.emulateMedia({ forcedColors: "active", contrast: "more" });
    const [moving, lost, isStrong] = await Promise.all([MOVING, LOST, CONTRAST].map((each) => page.evaluate(each)));
    expect({ moving, lost, isStrong }).toEqual({ moving: 0, lost: 0, isStrong: true });
    await page.emulateMedia({ forcedColors: null, contrast: null });

    const found = [
      ...(await misfits(page, "plain", WIDTHS)),
      ...(await misfits(page, "wider text", [1280, 360])),
      ...(await misfits(page, "from right to left", [1280, 360])),
      ...(await misfits(page, "longer words", [360, 1280])),
    ];
    expect(found).toEqual([]);
  });
});
