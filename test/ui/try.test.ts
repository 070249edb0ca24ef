// Trying a tool in a real browser: the form, progress, cancelling, the server's questions, and every kind of answer.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { misfits } from "../support/browser-layout.ts";
import { ask, tokenOf } from "../support/browser-session.ts";
import { fixture, makeHome, published, startHub, type RunningHub } from "../support/hub.ts";

const OFFER = {
  tools: [
    {
      name: "forms",
      description: "Every kind of field",
      inputSchema: {
        type: "object",
        properties: {
          text: { type: "string", minLength: 2 },
          big: { type: "integer" },
          flag: { type: "boolean" },
          color: { enum: ["red", "green"] },
          tags: { type: "array", items: { type: "string" } },
          inner: { $ref: "#/$defs/point" },
          either: {
            oneOf: [
              { title: "By name", type: "string" },
              { title: "By number", type: "integer" },
            ],
          },
        },
        required: ["text"],
        $defs: { point: { type: "object", properties: { x: { type: "number" } }, required: ["x"] } },
      },
    },
    { name: "login", inputSchema: { type: "object", properties: { api_key: { type: "string" } } } },
    { name: "wipe", inputSchema: { type: "object" }, annotations: { destructiveHint: true } },
    {
      name: "measure",
      inputSchema: { type: "object" },
      outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    },
    {
      name: "endless",
      // Takes longer than anyone waits for a text that almost matches.
      inputSchema: { type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } } },
    },
    { name: "huge", inputSchema: { type: "object" } },
  ],
  results: {
    measure: { content: [{ type: "text", text: "{}" }], structuredContent: { n: "five" } },
    huge: { content: [{ type: "text", text: "a line of the large answer\n".repeat(190_000) }] },
  },
};

const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);
const field = (page: Page, pointer: string) => by(page, `arg:${pointer}`).locator("input, textarea, select").first();

describe.skipIf(noBrowser !== undefined)(`trying a tool${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let hub: RunningHub;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "plugboard-try-"));
    await writeFile(join(folder, "offer.json"), JSON.stringify(OFFER));
    const servers = {
      everything: published("server-everything"),
      // A question of a server that still works on a cancelled call would belong to no one.
      slow: published("server-everything"),
      asks: fixture("asks-legacy"),
      echo: fixture("echo"),
      forms: fixture("lists", join(folder, "offer.json")),
    };
    hub = await startHub(await makeHome(servers));
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const open = async (server: string, tool: string, query = "") => {
    const person = await browser.signedIn(hub, `try/${server}/${tool}${query}`);
    await by(person.page, "run").waitFor();
    return person;
  };

  it("shows progress beside the form, and then the answer", async () => {
    const gate = join(folder, "gate");
    const args = encodeURIComponent(JSON.stringify({ steps: 4, hold: gate }));
    const { page } = await open("echo", "progress", `?args=${args}`);
    expect(await field(page, "/steps").inputValue()).toBe("4");
    await by(page, "run").click();
    await by(page, "progress").getByText("1 of 4").waitFor();
    await writeFile(gate, "");
    await by(page, "rendered").getByText("4 steps").waitFor();
    expect(await field(page, "/steps").inputValue()).toBe("4");
    await by(page, "view:protocol").click();
    await by(page, "protocol").getByText("notifications/progress").first().waitFor();
  });

  it("cancelling reaches the server, and the call log says who cancelled", async () => {
    const { page } = await open("slow", "trigger-long-running-operation", '?args={"duration":600,"steps":600}');
    await by(page, "run").click();
    await by(page, "progress").waitFor();
    await by(page, "cancel").click();
    await by(page, "outcome").getByText("cancelled after").waitFor();
    const headers = { authorization: `Bearer ${await tokenOf(hub)}` };
    const lastOutcome = async () => {
      const { body } = await ask(hub, "GET /calls?limit=1", headers);
      return (JSON.parse(body) as { items: { outcome: string }[] }).items[0]?.outcome;
    };
    await expect.poll(lastOutcome).toBe("cancelled");
  });

  it("the schemas of a tool are JSON to read, with signs to fold that a finger can hit", async () => {
    const person = await open("everything", "get-structured-content");
    const { page } = person;
    await page.locator("summary", { hasText: "Schema" }).click();
    const fold = page.getByRole("button", { name: "Fold" }).first();
    expect(await fold.boundingBox()).toMatchObject({ width: 24, height: 24 });
    await expectAccessible(person);
  });

  it("a question of the server is a form in the call, with the focus in its first field", async () => {
    const person = await open("everything", "trigger-elicitation-request");
    const { page } = person;
    await by(page, "run").click();
    const question = by(page, "question");
    await question.getByText("everything asks", { exact: true }).waitFor();
    await expect.poll(() => by(page, "assertive").textContent()).toBe("everything asks a question");
    const first = question.locator('[data-test="arg:/name"] input');
    await expect.poll(() => first.and(page.locator(":focus")).count()).toBe(1);
    await expectAccessible(person);
    expect(await misfits(page, "plain", [1024, 360])).toEqual([]);
    await by(page, "question-send").click();
    await question.getByText("is required").waitFor();
    await first.fill("Ann");
    await by(page, "question-send").click();
    await by(page, "rendered").getByText("Name: Ann").waitFor();
  });

  it("a declined question is told to the server", async () => {
    const { page } = await open("everything", "trigger-elicitation-request");
    await by(page, "run").click();
    await by(page, "question-decline").click();
    await expect.poll(() => by(page, "rendered").textContent()).toContain("declined");
  });

  it("a page that a server asks to open shows its host before it is opened", async () => {
    const { page } = await open("everything", "trigger-url-elicitation");
    await field(page, "/url").fill("https://pay.example/start?x=1");
    await by(page, "run").click();
    await by(page, "question").locator("strong", { hasText: "pay.example" }).waitFor();
    const link = by(page, "question").getByRole("link", { name: "Open" });
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
    await by(page, "question-send").click();
    await by(page, "outcome").getByText("ok in").waitFor();
  });

  it("a person answers in place of a model", async () => {
    const { page } = await open("everything", "trigger-sampling-request");
    await field(page, "/prompt").fill("What is up?");
    await by(page, "run").click();
    await by(page, "question").getByText("What is up?").waitFor();
    await by(page, "sampling-answer").fill("All is well");
    await by(page, "question-send").click();
    await expect.poll(() => by(page, "rendered").textContent()).toContain("All is well");
  });

  it("folders are given to a server that asks for roots", async () => {
    const { page } = await open("asks", "roots");
    await page.locator("summary", { hasText: "Folders for the server" }).click();
    await page.getByLabel("Folders for the server").fill("/srv/given-folder");
    await by(page, "run").click();
    await expect.poll(() => by(page, "rendered").textContent()).toContain("/srv/given-folder");
  });

  it("a picture is shown as one", async () => {
    const { page } = await open("everything", "get-tiny-image");
    await by(page, "run").click();
    const image = by(page, "rendered").locator("img");
    await image.waitFor();
    await expect.poll(() => page.evaluate("document.querySelector('main img').naturalWidth")).toBeGreaterThan(0);
  });

  it("structured content is checked against the schema of the tool", async () => {
    const { page } = await open("forms", "measure", "?view=structured");
    await by(page, "run").click();
    await by(page, "mismatches").getByText("must be a number").waitFor();
    expect(await by(page, "mismatches").locator("code").textContent()).toBe("/n");
  });

  it("an answer of 5 MB is shown in part, and can be searched", async () => {
    const { page } = await open("forms", "huge");
    await by(page, "run").click();
    await by(page, "rendered").getByText("a line of the large answer").first().waitFor();
    expect(await by(page, "rendered").locator("*").count()).toBeLessThan(1000);
    expect(await by(page, "run").isVisible()).toBe(true);
  });

  it("form and JSON are the same arguments, without loss", async () => {
    const person = await open("forms", "forms");
    const { page } = person;
    await by(page, "run").click();
    await by(page, "arg:/text").getByText("is required").waitFor();
    await field(page, "/text").fill("ab");
    await field(page, "/big").fill("9007199254740993");
    await by(page, "arg:/flag").getByText("true").click();
    await field(page, "/color").selectOption({ label: "green" });
    await by(page, "arg:/tags").getByRole("button", { name: "Add an item to tags" }).click();
    await field(page, "/tags/0").fill("one");
    await by(page, "arg:/inner").getByRole("button", { name: "Fill in inner" }).click();
    await field(page, "/inner/x").fill("1.5");
    await field(page, "/either").selectOption({ label: "By number" });
    await by(page, "arg:/either").locator("input").fill("7");
    await expectAccessible(person);
    await by(page, "view:json").click();
    const text = await by(page, "json").inputValue();
    expect(text.replaceAll(/\s/g, "")).toBe(
      '{"text":"ab","big":9007199254740993,"flag":true,"color":"green","tags":["one"],"inner":{"x":1.5},"either":7}',
    );
    await by(page, "json").fill('{"text":"ab","unknown":{"kept":1.10}}');
    await page.getByRole("button", { name: "Form", exact: true }).click();
    await field(page, "/text").fill("cd");
    await by(page, "run").click();
    await by(page, "outcome").getByText("ok in").waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get("args")).toBe('{"text":"cd","unknown":{"kept":1.10}}');
  });

  it("arguments that look secret are not in the address", async () => {
    const { page } = await open("forms", "login");
    await field(page, "/api_key").fill("s3cr3t-value");
    await by(page, "run").click();
    await by(page, "outcome").getByText("ok in").waitFor();
    expect(page.url()).not.toContain("s3cr3t");
  });

  it("T30 a pattern of a hostile schema does not stop the page", async () => {
    const person = await open("forms", "endless");
    const { page } = person;
    await field(page, "/text").fill(`${"a".repeat(60)}!`);
    await by(page, "run").click();
    await page.getByText("Not checked").waitFor();
    await by(page, "outcome").waitFor();
    await field(page, "/text").fill("b");
    await by(page, "run").click();
    await page.locator("[aria-invalid=true]").waitFor();
    await expectAccessible(person);
  });

  it("a destructive tool asks before it runs", async () => {
    const { page } = await open("forms", "wipe");
    await by(page, "run").click();
    await by(page, "dialog").getByText("wipe may destroy data").waitFor();
    await page.keyboard.press("Escape");
    await by(page, "dialog").waitFor({ state: "detached" });
    expect(await by(page, "outcome").count()).toBe(0);
    await by(page, "run").click();
    await by(page, "confirm").click();
    await by(page, "outcome").getByText("ok in").waitFor();
  });

  it("two answers can be compared", async () => {
    const { page } = await open("everything", "echo");
    for (const message of ["first", "second"]) {
      await field(page, "/message").fill(message);
      await by(page, "run").click();
      await by(page, "rendered").getByText(`Echo: ${message}`).waitFor();
    }
    await by(page, "compare").selectOption({ index: 1 });
    await expect.poll(() => by(page, "answer").textContent()).toMatch(/Echo: first.*Echo: second/s);
  });

  it("works with the keyboard alone", async () => {
    const { page } = await browser.signedIn(hub, "tools");
    await by(page, "tool:everything:echo").waitFor();
    await page.keyboard.press("/");
    await expect.poll(() => by(page, "tools-filter").and(page.locator(":focus")).count()).toBe(1);
    await page.keyboard.type("everything: get-sum");
    await by(page, "tools-found").getByText("1 of").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await field(page, "/a").focus();
    await page.keyboard.type("2");
    await page.keyboard.press("Tab");
    await page.keyboard.type("3");
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => by(page, "rendered").textContent()).toContain("The sum of 2 and 3 is 5");
  });
});
