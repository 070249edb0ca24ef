// How a page looks to readers with small windows, longer words, wider text or another direction of writing.

import type { Page } from "playwright-core";

/** As large as WCAG 1.4.12 asks for. A constructed style sheet, since the pages allow no inline styles. */
const SPACING = `(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important } p { margin-block-end: 2em !important }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
})()`;
const NO_SPACING = `document.adoptedStyleSheets = document.adoptedStyleSheets.slice(0, -1)`;

/** Words of another language: accents, and 40 % longer. Names, commands and other text in mono are the same in every language. */
const PSEUDO = `(() => {
  const accents = { a: "á", e: "é", i: "í", o: "ö", u: "ü", y: "ÿ", n: "ñ", c: "ç", A: "Á", E: "É", I: "Í", O: "Ö", U: "Ü", N: "Ñ" };
  const longer = (word) => word.replace(/[aeiouyncAEIOUN]/g, (letter) => accents[letter]) + "ǃ".repeat(Math.ceil(word.length * 0.4));
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (parent.closest("code, pre, kbd, script, textarea, [dir=auto], .mono") !== null) continue;
    if (getComputedStyle(parent).fontFamily.includes("mono")) continue;
    node.nodeValue = node.nodeValue.replace(/[A-Za-z]{2,}/g, longer);
  }
  for (const element of document.querySelectorAll("[placeholder]"))
    element.placeholder = element.placeholder.replace(/[A-Za-z]{2,}/g, longer);
})()`;

/** After what follows the size of the window by script has followed it. */
const SETTLED = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))`;

/**
 * What does not fit: the page if it scrolls sideways, words that are cut off without a sign, and fields that stick out of their
 * pane or dialog. Words may end with an ellipsis, or be in a part of the page that scrolls by itself.
 */
const MISFITS = `(() => {
  const found = [];
  const width = document.documentElement.scrollWidth;
  if (width > innerWidth) {
    const { right, left } = document.documentElement.getBoundingClientRect();
    const sticksOut = (element) => {
      const box = element.getBoundingClientRect();
      return box.width > 0 && (box.right > right + 1 || box.left < left - 1);
    };
    const inner = [...document.querySelectorAll("body *")].filter((element) => sticksOut(element) && ![...element.children].some(sticksOut));
    const names = inner.slice(0, 3).map((element) => element.tagName + " " + element.textContent.trim().slice(0, 40));
    found.push("the page is " + width + " wide: " + names.join("; "));
  }
  for (const element of document.querySelectorAll("button, a, label, legend, summary, h1, h2, h3, th, dt, p, option, .button")) {
    if (element.closest("[hidden], .hidden-text, [popover]:not(:popover-open), svg") !== null) continue;
    if (element.checkVisibility?.({ visibilityProperty: true, opacityProperty: true }) === false) continue;
    const { overflowX, textOverflow } = getComputedStyle(element);
    const isCut = /hidden|clip/.test(overflowX) && textOverflow === "clip" && element.scrollWidth > element.clientWidth + 1;
    if (isCut) found.push(element.tagName + " " + element.textContent.trim().slice(0, 60));
  }
  for (const control of document.querySelectorAll("dialog[open], main :is(h1, input, select, textarea):not(table *), dialog[open] :is(input, select, textarea):not(table *)")) {
    if (control.closest(".hidden-text") !== null || control.checkVisibility?.() === false) continue;
    let pane = control.parentElement;
    while (pane !== null && getComputedStyle(pane).overflowX === "visible") pane = pane.parentElement;
    const [inner, outer] = [control.getBoundingClientRect(), (pane ?? document.documentElement).getBoundingClientRect()];
    if (inner.width > 1 && (inner.right > outer.right + 1 || inner.left < outer.left - 1))
      found.push(control.tagName + " " + (control.getAttribute("aria-label") ?? control.id) + " is outside of what holds it");
  }
  return found;
})()`;

export const LAYOUTS = {
  plain: { before: "0", after: "0" },
  "wider text": { before: SPACING, after: NO_SPACING },
  "from right to left": {
    before: `document.documentElement.dir = "rtl"`,
    after: `document.documentElement.dir = "ltr"`,
  },
  /** The last one: it changes the page for good. */
  "longer words": { before: PSEUDO, after: "0" },
} as const;

/** What does not fit in windows of these widths. */
export async function misfits(page: Page, layout: keyof typeof LAYOUTS, widths: readonly number[]): Promise<string[]> {
  const { before, after } = LAYOUTS[layout];
  const found: string[] = [];
  await page.evaluate(before);
  for (const width of widths) {
    await page.setViewportSize({ width, height: width < 500 ? 740 : 800 });
    await page.evaluate(SETTLED);
    for (const each of await page.evaluate<string[]>(MISFITS)) found.push(`${layout}, ${width} px: ${each}`);
  }
  await page.evaluate(after);
  return found;
}
