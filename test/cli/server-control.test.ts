// start, stop and restart of servers of a running hub.

import { describe, expect, it } from "vitest";
import { json, openHub } from "../support/cli.ts";
import { failing, fixture, plugboard } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";

describe.concurrent("starting and stopping servers of a hub", () => {
  it("MG-1 start, stop and restart control a server by name", async (context) => {
    const { home } = await openHub(context, { it: fixture("echo"), other: fixture("echo") });
    const pidOf = async () => (await json(home, "get", "it")).pid;
    const first = await pidOf();
    expect(await plugboard(home, ["stop", "it"])).toEqual({ code: 0, stdout: "Stopped it\n", stderr: "" });
    expect(await json(home, "get", "it")).toMatchObject({ status: "stopped", pid: null });
    expect((await plugboard(home, ["start", "it"])).stdout).toMatch(/^Started it \(\d+ tools\)\n$/);
    const second = await pidOf();
    expect(second).not.toBe(first);
    expect(await json(home, "restart", "it")).toMatchObject({ status: "running", config: { name: "it" } });
    expect(await pidOf()).not.toBe(second);
    expect(processesWithMark(home.mark)).toHaveLength(2);
  });

  it("MC-NT1 start of a disabled server exits 7", async (context) => {
    const { home } = await openHub(context, { off: { ...fixture("echo"), enabled: false } });
    const { code, stderr } = await plugboard(home, ["start", "off"]);
    expect(code).toBe(7);
    expect(stderr).toMatch(/^error: Server "off" is disabled\n {2}fix: +plugboard enable off\n/);
  });

  it("LC-3 start of a failing server exits 4 and prints the reason", async (context) => {
    const { home } = await openHub(context, { broken: failing() });
    const { code, stderr } = await plugboard(home, ["restart", "broken"]);
    expect(code).toBe(4);
    expect(stderr).toMatch(/^error: The server exited with code 3.*\n {2}cause: fatal: no configuration found\n/);
  });

  it("CF-9 an edit by a command reaches the hub and leaves the other servers running", async (context) => {
    const { home } = await openHub(context, { it: fixture("echo") });
    const { pid } = await json(home, "get", "it");
    const { command, args } = fixture("echo");
    await plugboard(home, ["add", "new", "--", command, ...args]);
    expect(await json(home, "get", "new")).toMatchObject({ status: expect.stringMatching(/running|starting/) });
    expect((await json(home, "get", "it")).pid).toBe(pid);
  });
});
