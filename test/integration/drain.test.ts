// The end of a hub that has something to do: what is under way comes to its end, nothing new begins.

import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as openSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { modern } from "../support/rpc.ts";

let home: Home;
let folder: string;
afterEach(async () => {
  // After the second signal it is the watchdog that ends what the hub left.
  await vi.waitFor(() => expect(processesWithMark(home.mark)).toEqual([]), { timeout: 10_000 });
  await home.remove();
  await rm(folder, { recursive: true, force: true });
});

/** A hub with a call under way that ends when the file is there. */
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

/** The call has reached the hub when its metric says so. */
async function underWay(hub: RunningHub): Promise<void> {
  const { readManagementToken } = await import("../../hub/src/auth/management-token.ts");
  const token = await readManagementToken(join(home.dir, "data"));
  for (;;) {
    const response = await fetch(`${hub.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    if (/^hub_calls_inflight 1$/m.test(await response.text())) return;
  }
}

/** Written to stderr when the signal has been taken. */
async function told(hub: RunningHub): Promise<void> {
  while (!hub.stderr().includes("waiting for 1 call")) await once(hub.process.stderr ?? process.stderr, "data");
}

describe("a hub that is told to stop", () => {
  it("F42 lets a call come to its end, takes no new connection, and exits 0", async () => {
    const { hub, call, path } = await withOpenCall("1h");
    hub.process.kill("SIGTERM");
    await told(hub);
    const socket = openSocket(Number(new URL(hub.url).port), "127.0.0.1");
    const [error] = await once(socket, "error");
    // Reset where the system had taken it in before the hub stopped listening.
    expect(error).toMatchObject({ code: expect.stringMatching(/^ECONN(REFUSED|RESET)$/) });
    const ended = once(hub.process, "exit");
    await writeFile(path, "");
    const { body } = await call;
    expect(JSON.parse(body).result.content[0].text).toBe("(unset)");
    expect(await ended).toEqual([0, null]);
  });

  it("F42 does not wait for longer than it is allowed to", async () => {
    const { hub, call } = await withOpenCall("1ms");
    expect(await hub.stop()).toBe(0);
    await Promise.allSettled([call]);
  });

  it("F42 ends at once with the second signal", async () => {
    const { hub, call } = await withOpenCall("1h");
    hub.process.kill("SIGTERM");
    await told(hub);
    expect(await hub.stop()).toBe(130);
    await Promise.allSettled([call]);
  });
});
