// A hub that is stopped while calls are open: it finishes them and accepts no new ones.

import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as openSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { tokenOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { modern } from "../support/rpc.ts";

let home: Home;
let folder: string;
afterEach(async () => {
  // After the second signal, the watchdog ends the remaining processes.
  await expect.poll(() => processesWithMark(home.mark)).toEqual([]);
  await home.remove();
  await rm(folder, { recursive: true, force: true });
});

/** A hub with an open call that ends when the file exists. */
async function withOpenCall(drain: string) {
  home = await makeHome({ it: fixture("echo") });
  folder = await mkdtemp(join(tmpdir(), "plugboard-drain-"));
  const hub = await startHub(home, { args: ["--drain", drain] });
  const path = join(folder, "go");
  const call = modern(`${hub.url}/mcp`, "tools/call", { name: "wait_for_file", arguments: { path, name: "NOTHING" } });
  call.catch(() => undefined);
  await underWay(hub);
  return { hub, call, path };
}

/** Waits until the hub counts the call as in flight. */
async function underWay(hub: RunningHub): Promise<void> {
  const token = await tokenOf(home);
  for (;;) {
    const response = await fetch(`${hub.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    if (/^hub_calls_inflight 1$/m.test(await response.text())) return;
  }
}

/** Waits for the line that the hub writes to stderr when it has received the signal. */
async function told(hub: RunningHub): Promise<void> {
  while (!hub.stderr().includes("waiting for 1 call")) await once(hub.process.stderr ?? process.stderr, "data");
}

describe("a hub that gets SIGTERM", () => {
  it("F42 finishes open calls, accepts no new connection, and exits 0", async () => {
    const { hub, call, path } = await withOpenCall("1h");
    hub.process.kill("SIGTERM");
    await told(hub);
    const socket = openSocket(Number(new URL(hub.url).port), "127.0.0.1");
    const [error] = await once(socket, "error");
    // The connection is reset if the system accepted it before the hub stopped listening.
    expect(error).toMatchObject({ code: expect.stringMatching(/^ECONN(REFUSED|RESET)$/) });
    const ended = once(hub.process, "exit");
    await writeFile(path, "");
    const { body } = await call;
    expect(JSON.parse(body).result.content[0].text).toBe("(unset)");
    expect(await ended).toEqual([0, null]);
  });

  it("F42 waits no longer than the drain limit", async () => {
    const { hub, call } = await withOpenCall("1ms");
    expect(await hub.stop()).toBe(0);
    await Promise.allSettled([call]);
  });

  it("F42 exits at once on the second signal", async () => {
    const { hub, call } = await withOpenCall("1h");
    hub.process.kill("SIGTERM");
    await told(hub);
    expect(await hub.stop()).toBe(130);
    await Promise.allSettled([call]);
  });
});
