// `plugboard secret rotate-key`, with a hub that goes on with the new key, and without one.

import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client.ts";
import { readManagementToken } from "../../hub/src/auth/management-token.ts";
import { fixture, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";

let home: Home;
let hub: RunningHub | undefined;

afterEach(async () => {
  await hub?.stop();
  hub = undefined;
  expect(processesWithMark(home.mark)).toEqual([]);
  await home.remove();
});

const SERVERS = { it: { ...fixture("echo"), env: { API_KEY: { secretRef: "service" } } } };
const keyPath = () => join(home.dir, "data/secrets/master.key");
const keyText = () => readFile(keyPath(), "utf8");
const rotate = (...options: string[]) => plugboard(home, ["secret", "rotate-key", ...options]);

async function open(): Promise<HubClient> {
  hub = await startHub(home);
  return new HubClient({ url: hub.url, token: (await readManagementToken(join(home.dir, "data"))) ?? "" });
}

/** What the server got when it was started. */
async function given(client: HubClient): Promise<unknown> {
  const { content } = await client.callTool({ server_name: "it", tool_name: "env", arguments: { name: "API_KEY" } });
  return content;
}

describe("SE-1 MG-1 secret rotate-key", () => {
  it("through a running hub, which goes on with the new key; another at the same time is a conflict", async () => {
    home = await makeHome(SERVERS);
    await plugboard(home, ["secret", "set", "service"], { stdin: "first-value-4711" });
    const client = await open();
    const old = await keyText();
    expect(await rotate()).toEqual({ code: 0, stdout: "Encrypted 1 secret with a new key\n", stderr: "" });
    expect(await keyText()).not.toBe(old);
    await client.restartServer("it");
    expect(await given(client)).toEqual([{ type: "text", text: "first-value-4711" }]);
    await client.setSecret("other", "second-value-4711");
    expect(JSON.parse((await rotate("--json")).stdout)).toEqual({ rotated: 2 });
    // As if another process were at it: this one lives.
    await writeFile(`${keyPath()}.lock`, JSON.stringify({ pid: process.pid, nonce: "n" }));
    const before = await keyText();
    await expect(client.rotateSecretKey()).rejects.toMatchObject({ kind: "StaleConfig", code: "CONFLICT" });
    const refused = await rotate();
    expect(refused).toMatchObject({ code: 7, stdout: "" });
    expect(refused.stderr).toContain("Somebody else is changing");
    expect(await keyText()).toBe(before);
    await rm(`${keyPath()}.lock`);
    // Of several at once one at least is carried out, and the others do no harm.
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => client.rotateSecretKey()));
    const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    expect(reasons.length).toBeLessThan(4);
    for (const reason of reasons) expect(reason).toMatchObject({ code: "CONFLICT" });
    await client.restartServer("it");
    expect(await given(client)).toEqual([{ type: "text", text: "first-value-4711" }]);
    // And a hub that is started afterwards has the key from the file.
    await hub?.stop();
    const next = await open();
    expect(await given(next)).toEqual([{ type: "text", text: "first-value-4711" }]);
  });

  it("without a hub; where the key is given, it is refused with the way out", async () => {
    home = await makeHome(SERVERS);
    expect(await rotate()).toEqual({ code: 0, stdout: "There are no secrets yet\n", stderr: "" });
    await plugboard(home, ["secret", "set", "service"], { stdin: "value-4711" });
    const old = await keyText();
    expect(await rotate()).toMatchObject({ code: 0, stdout: "Encrypted 1 secret with a new key\n" });
    expect(await keyText()).not.toBe(old);
    const called = await plugboard(home, ["call", "it.env", "name=API_KEY"]);
    expect(called.stdout).toBe("value-4711\n");
    const env = { PLUGBOARD_SECRET_KEY: "a passphrase" };
    const refused = await plugboard(home, ["secret", "rotate-key"], { env });
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(/given by PLUGBOARD_SECRET_KEY[^]*(?:fix|note): .*plugboard secret set NAME/);
    expect(refused.stderr).not.toContain("a passphrase");
  });
});
