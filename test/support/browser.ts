// A real browser on the web interface of a real hub. A page that logs an error, throws, breaks its Content-Security-Policy or asks
// another origin for anything fails its test, unless the test expects that.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import type { AxeResults } from "axe-core";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { makeKey } from "./browser-session.ts";
import type { RunningHub } from "./hub.ts";

const CHROMIUM = "/usr/bin/chromium";
const INSTALL = "apt-get install -y --no-install-recommends chromium";
/** For the titles of tests that are skipped. */
export const noBrowser = existsSync(CHROMIUM) ? undefined : ` (skipped: ${INSTALL})`;

/** As root there is no sandbox; the other flags keep the browser off the network. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const THEMES = ["light", "dark"] as const;
/** Detects a hang, not slowness: the tests of several files share a small machine. */
const PATIENCE_MS = 120_000;
const VIOLATION = "CSP violation";
/** Rules of WCAG 2.2 AA, and what axe recommends beyond. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

type Hub = Pick<RunningHub, "url" | "home">;

export interface Person {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What went wrong on the pages so far. */
  readonly faults: string[];
  /** Faults that match are part of the test: a refused request is an error on the console. */
  expectFault(pattern: RegExp): void;
  /** A page of the web interface: `servers/git?tab=log`. */
  go(path: string): Promise<void>;
}

interface BrowserOptions {
  /** A page that a hook opens serves all tests of the file. */
  readonly keepPages?: boolean;
}

export interface PersonOptions extends BrowserContextOptions {
  /** Not by its own address: behind a proxy. */
  readonly url?: string;
}

/**
 * A browser for the tests of a file, closed after them. Faults are checked after each test. Use it after the hooks that end a hub:
 * hooks run in reverse order, and a page should be closed before its hub.
 *
 * @example const browser = useBrowser(); const { page } = await browser.signedIn(hub);
 */
export function useBrowser({ keepPages = false }: BrowserOptions = {}) {
  let browser: Browser;
  let people: { person: Person; expected: RegExp[] }[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });
  });

  const closePages = async () => {
    const opened = people;
    people = [];
    for (const { person } of opened) await person.context.close();
    return opened;
  };

  afterEach(async () => {
    const opened = keepPages ? people : await closePages();
    for (const { person, expected } of opened)
      expect(person.faults.splice(0).filter((fault) => !expected.some((pattern) => pattern.test(fault)))).toEqual([]);
  });

  afterAll(async () => {
    await closePages();
    await browser?.close();
  });

  /** Another person, with cookies and storage of their own. */
  const open = async (hub: Pick<Hub, "url">, { url = hub.url, ...options }: PersonOptions = {}): Promise<Person> => {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    const faults: string[] = [];
    await context.addInitScript(
      `addEventListener("securitypolicyviolation", (event) => console.error("${VIOLATION}", event.violatedDirective, event.blockedURI, event.sample));`,
    );
    const origin = new URL(url).origin;
    context.on("request", (request) => {
      const asked = new URL(request.url());
      if (/^https?:/.test(asked.protocol) && asked.origin !== origin) faults.push(`request to ${asked.href}`);
    });
    context.on("console", (message) => {
      if (message.type() === "error") faults.push(`console: ${message.text()} ${message.location().url}`);
    });
    context.on("weberror", (error) => faults.push(`error: ${error.error().message} ${error.error().stack ?? ""}`));
    const page = await context.newPage();
    const expected: RegExp[] = [];
    const person: Person = {
      page,
      context,
      faults,
      expectFault: (pattern) => void expected.push(pattern),
      go: async (path) => void (await page.goto(`${url}/ui/${path}`)),
    };
    people.push({ person, expected });
    return person;
  };

  return {
    open,
    /** By a new one-time link, on this page. Resolves when its heading is there and events arrive. */
    signedIn: async (hub: Hub, path = "", options: PersonOptions = {}): Promise<Person> => {
      const person = await open(hub, options);
      await person.go(`${path}#k=${await makeKey(hub)}`);
      await person.page.locator("main h1").waitFor();
      await untilLive(person.page);
      return person;
    },
  };
}

/** Replaces the whole text of the editor, as a person who pastes it. */
export async function replaceText(page: Page, text: string): Promise<void> {
  await page.locator(".cm-content").click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(text);
}

/** Until the page hears of every change from now on. */
export async function untilLive(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Hub: live", includeHidden: true }).waitFor({ state: "attached" });
}

/** Runs axe on the page as it is, in both themes. */
export async function expectAccessible({ page }: Pick<Person, "page">): Promise<void> {
  const source = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.evaluate(source);
    // What is half below the bar at the top counts as too small.
    await page.evaluate("scrollTo(0, 0)");
    // The theme changes colours only.
    const runOnly =
      colorScheme === THEMES[0] ? { type: "tag", values: RULES } : { type: "rule", values: ["color-contrast"] };
    const results = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify({ runOnly })})`);
    const found = results.violations.map(({ id, nodes }) => ({
      theme: colorScheme,
      id,
      where: nodes.map(({ target, failureSummary }) => `${target.join(" ")}: ${failureSummary}`),
    }));
    expect({ page: page.url(), found }).toEqual({ page: page.url(), found: [] });
  }
}
