// Users, access of groups and the audit log in a real browser.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { clientOf } from "../support/client.ts";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { misfits } from "../support/browser-layout.ts";
import { fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";
import { signIn } from "../support/users.ts";

const by = (page: Page, name: string) => page.locator(`[data-test="${name}"]`);
const ANN = "ann@example.com";

describe.skipIf(noBrowser !== undefined)(`users in the browser${noBrowser ?? ""}`, () => {
  let hub: RunningHub;

  beforeAll(async () => {
    const home = await makeHome({ echo: fixture("echo") }, { desk: { servers: ["echo"] } });
    hub = await startHub(home);
    await signIn(
      home,
      { email: ANN, name: "Ann Example", teams: ["engineering", "on call"] },
      { email: "somebody.with.a.long.address@department.example.com", emailVerified: false },
    );
  });

  afterAll(async () => {
    await hub.stop();
    await hub.home.remove();
  });

  const browser = useBrowser();

  it("MG-4 AU-5 an administrator gives a role, disables a user, and reads who did it", async () => {
    const person = await browser.signedIn(hub, "access");
    const { page } = person;
    await by(page, `user:${ANN}`).waitFor();
    await expectAccessible(person);
    await by(page, `role:${ANN}`).selectOption("operator");
    await by(page, "toast").getByText(`${ANN} has the role operator now`).waitFor();
    await by(page, `disable:${ANN}`).click();
    await by(page, "confirm").click();
    await by(page, `user:${ANN}`).getByText("disabled").waitFor();
    const users = await (await clientOf(hub)).users.list();
    expect(users.find(({ email }) => email === ANN)).toMatchObject({ role: "operator", disabled: true });

    await person.go("audit");
    await page.getByText("user.disable").waitFor();
    await expectAccessible(person);
    await by(page, "what").selectOption("auth");
    await page.getByText("user.disable").waitFor({ state: "detached" });
    await by(page, "verify").click();
    await by(page, "check").getByText("as they were written").waitFor();
    for (const [path, ready] of [
      ["audit", "verify"],
      ["access", `user:${ANN}`],
      ["groups/desk", "access"],
    ] as const) {
      await person.go(path);
      await by(page, ready).waitFor();
      expect([path, await misfits(page, "plain", [1440, 1024, 360])]).toEqual([path, []]);
    }
  });

  it("MG-4 AU-5 a group is opened to a team, and a wrong entry is said", async () => {
    const person = await browser.signedIn(hub, "groups/desk");
    const { page } = person;
    await by(page, "access").fill("team:engineering, user:ann@example.com");
    await by(page, "save").click();
    await by(page, "toast").first().waitFor();
    const client = await clientOf(hub);
    expect(await client.groups.get("desk")).toMatchObject({ access: ["team:engineering", `user:${ANN}`] });
    person.expectFault(/status of 400/);
    await by(page, "access").fill("engineering");
    await by(page, "save").click();
    await page.getByText("Access is given to").waitFor();
    await expectAccessible(person);
  });
});
