// Calls that wait for a person, in a real browser: what they would do is seen, and the buttons decide.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAccessible, noBrowser, useBrowser } from "../support/browser.ts";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";
import { connect } from "../support/rpc.ts";

describe.skipIf(noBrowser !== undefined)(`RG-2 approvals in the browser${noBrowser ?? ""}`, () => {
  const browser = useBrowser();
  let hub: RunningHub;

  beforeAll(async () => {
    const home = await makeHome({ files: fixture("files") }, { careful: { servers: ["files"], approve: "always" } });
    hub = await startHub(home);
  });

  afterAll(async () => {
    await hub.stop();
    await hub.home.remove();
  });

  it.each([
    ["", "approve", { isError: undefined }],
    ["calls", "deny", { isError: true }],
  ])("MG-4 the page /%s shows a call and its arguments, and can %s it", async (path, decision, result) => {
    const person = await browser.signedIn(hub, path);
    const { page } = person;
    await page.locator("h1").waitFor();
    const client = await connect(`${hub.url}/mcp/careful`);
    const called = client.request("tools/call", { name: "remove", arguments: { path: "/tmp/photos" } });
    const call = page.locator('[data-test="approval:remove"]');
    await call.getByText("/tmp/photos").waitFor();
    await expectAccessible(person);
    await call.locator(`[data-test="${decision}"]`).click();
    expect((await called).result.isError).toBe(result.isError);
    await call.waitFor({ state: "detached" });
    expect(await (await clientOf(hub)).approvals.list()).toEqual([]);
  });

  it("MG-4 the rule of a group is set on its page", async () => {
    const { page } = await browser.signedIn(hub, "groups/careful");
    await page.locator('[data-test="approve"]').selectOption("destructive");
    await page.keyboard.press("Control+Enter");
    const client = await clientOf(hub);
    await expect.poll(async () => (await client.groups.get("careful")).approve).toBe("destructive");
  });
});
