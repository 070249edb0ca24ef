// `plugboard secret rotate-key`, with a running hub that continues with the new key, and without one.

import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { HubClient } from "../../hub/src/api/client/client.ts";
import { openHome, startHubIn } from "../support/cli.ts";
import { clientOf } from "../support/client.ts";
import { fixture, plugboard, type Home } from "../support/hub.ts";

const SERVERS = { it: { ...fixture("echo"), env: { API_KEY: { secretRef: "service" } } } };

function keyOf(home: Home) {
  const path = join(home.dir, "data/secrets/master.key");
  return {
    path,
    text: () => readFile(path, "utf8"),
    rotate: (...options: string[]) => plugboard(home, ["secret", "rotate-key", ...options]),
  };
}

/** The variable that the server got when it was started. */
async function given(client: HubClient): Promise<unknown> {
  const { content } = await client.callTool({ server: "it", tool: "env", arguments: { name: "API_KEY" } });
  return content;
}

describe("SE-1 MG-1 secret rotate-key", () => {
  it("a running hub rotates and continues with the new key; a concurrent rotation is a conflict", async (context) => {
    const home = await openHome(context, SERVERS);
    const key = keyOf(home);
    await plugboard(home, ["secret", "set", "service"], { stdin: "first-value-4711" });
    const hub = await startHubIn(context, home);
    const client = await clientOf(hub);
    const old = await key.text();
    expect(await key.rotate()).toEqual({ code: 0, stdout: "Encrypted 1 secret with a new key\n", stderr: "" });
    expect(await key.text()).not.toBe(old);
    await client.servers.restart("it");
    expect(await given(client)).toEqual([{ type: "text", text: "first-value-4711" }]);
    await client.secrets.set("other", "second-value-4711");
    expect(JSON.parse((await key.rotate("--json")).stdout)).toEqual({ rotated: 2 });
    // The lock of a live process: this one.
    await writeFile(`${key.path}.lock`, JSON.stringify({ pid: process.pid, nonce: "n" }));
    const before = await key.text();
    await expect(client.secrets.rotateKey()).rejects.toMatchObject({ kind: "Locked", code: "CONFLICT" });
    const refused = await key.rotate();
    expect(refused).toMatchObject({ code: 7, stdout: "" });
    expect(refused.stderr).toContain("Another process is changing");
    expect(await key.text()).toBe(before);
    await rm(`${key.path}.lock`);
    // Of several concurrent rotations at least one succeeds; the others are conflicts.
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => client.secrets.rotateKey()));
    const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    expect(reasons.length).toBeLessThan(4);
    for (const reason of reasons) expect(reason).toMatchObject({ code: "CONFLICT" });
    await client.servers.restart("it");
    expect(await given(client)).toEqual([{ type: "text", text: "first-value-4711" }]);
    // A hub that is started afterwards reads the key from the file.
    await hub.stop();
    const next = await startHubIn(context, home);
    expect(await given(await clientOf(next))).toEqual([{ type: "text", text: "first-value-4711" }]);
  });

  it("works without a hub; a key given in the environment is rejected with the fix", async (context) => {
    const home = await openHome(context, SERVERS);
    const key = keyOf(home);
    expect(await key.rotate()).toEqual({ code: 0, stdout: "No secrets yet\n", stderr: "" });
    await plugboard(home, ["secret", "set", "service"], { stdin: "value-4711" });
    const old = await key.text();
    expect(await key.rotate()).toMatchObject({ code: 0, stdout: "Encrypted 1 secret with a new key\n" });
    expect(await key.text()).not.toBe(old);
    const called = await plugboard(home, ["call", "it.env", "name=API_KEY"]);
    expect(called.stdout).toBe("value-4711\n");
    const env = { PLUGBOARD_SECRET_KEY: "a passphrase" };
    const refused = await plugboard(home, ["secret", "rotate-key"], { env });
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(/set in PLUGBOARD_SECRET_KEY[^]*(?:fix|note): .*plugboard secret set NAME/);
    expect(refused.stderr).not.toContain("a passphrase");
  });
});
