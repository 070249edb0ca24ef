// A person without a pointer: moves by Tab, and sees at every stop where the focus is.

import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** More stops than any screen of the tests has. */
const MOST_STOPS = 250;

/** What a person sees of the focus. */
interface Stop {
  readonly what: string;
  readonly isPage: boolean;
  readonly outlinePx: number;
  readonly isInWindow: boolean;
}

/** Elements in a shadow root have the focus of their host. */
const STOP = `(() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  const box = at.getBoundingClientRect();
  const outlineOf = (element) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return outlineStyle === "none" ? 0 : Number.parseFloat(outlineWidth);
  };
  // The ring of an editor is around its frame.
  let outlinePx = 0;
  for (let each = at; each !== null && outlinePx === 0; each = each.parentElement ?? each.getRootNode().host ?? null)
    outlinePx = outlineOf(each);
  return {
    what: [at.tagName, at.type, at.id].join(" ") + " " + (at.dataset.test ?? at.getAttribute("aria-label") ?? at.textContent.trim().slice(0, 40)),
    isPage: at === document.body,
    outlinePx,
    isInWindow: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
  };
})()`;

/** Marks where the focus is, and says whether it was there before. */
const VISITED = `(() => {
  const seen = (window.visitedStops ??= new WeakSet());
  const at = document.activeElement;
  const before = seen.has(at);
  seen.add(at);
  return before;
})()`;

export class Keyboard {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    await this.#page.keyboard.type(text);
  }

  /** Goes on by Tab until the element has the focus. Every stop on the way must be visible. */
  async tabTo(target: Locator, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
    await target.waitFor();
    const passed: string[] = [];
    for (let stops = 0; stops < MOST_STOPS; stops++) {
      if (await this.has(target)) return;
      await this.press(key);
      passed.push(await this.#expectVisible());
    }
    throw new Error(`Not reached by ${key}: ${target.toString()}. Stops: ${passed.join("; ")}`);
  }

  /** Whether the element has the focus. */
  has(target: Locator): Promise<boolean> {
    return target.evaluate((element) => element === element.ownerDocument.activeElement);
  }

  async untilAt(target: Locator): Promise<void> {
    await target.waitFor();
    await expect.poll(() => this.has(target)).toBe(true);
  }

  /** Where the focus is: an element, not the page as a whole. */
  async untilSomewhere(): Promise<void> {
    await expect.poll(async () => (await this.#stop()).isPage).toBe(false);
  }

  /** All stops of the page, once around. The focus gets everywhere and out again, so that it comes back to the first stop. */
  async stops(): Promise<string[]> {
    await this.#page.evaluate("document.activeElement.blur()");
    await this.#page.evaluate("delete window.visitedStops");
    const stops: string[] = [];
    while (stops.length < MOST_STOPS) {
      await this.press("Tab");
      const { isPage, what } = await this.#stop();
      // At the end the focus leaves the document for the browser.
      if (isPage || (await this.#page.evaluate<boolean>(VISITED))) return stops;
      await this.#expectVisible();
      stops.push(what);
    }
    throw new Error(`The focus does not come around: ${stops.slice(-5).join("; ")}`);
  }

  #stop(): Promise<Stop> {
    return this.#page.evaluate<Stop>(STOP);
  }

  async #expectVisible(): Promise<string> {
    const { what, isPage, outlinePx, isInWindow } = await this.#stop();
    if (!isPage)
      expect({ what, hasRing: outlinePx >= 2, isInWindow }).toEqual({ what, hasRing: true, isInWindow: true });
    return what;
  }
}
