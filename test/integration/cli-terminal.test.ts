// What commands look like on a terminal of a common width, with a hub that runs and without one.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failing, fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { noTerminal, onTerminal } from "../support/terminal.ts";

const LONG = "a-server-with-a-long-name-of-its-own";
const SERVERS = {
  it: fixture("echo"),
  [LONG]: failing(),
  off: { ...fixture("echo"), enabled: false },
};

// eslint-disable-next-line no-control-regex -- that is what a terminal is sent
const plain = (screen: string) => screen.replaceAll(/\u001b\[[\d;]*[A-Za-z]/g, "").replaceAll("\r\n", "\n");
const widest = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

describe.skipIf(noTerminal !== undefined)(`on a terminal${noTerminal ?? ""}`, () => {
  let home: Home;
  let hub: RunningHub;
  beforeAll(async () => {
    home = await makeHome(SERVERS, { work: { servers: ["it", LONG] }, other: { servers: [LONG] } });
    hub = await startHub(home);
  });
  afterAll(async () => {
    await hub.stop();
    expect(processesWithMark(home.mark)).toEqual([]);
    await home.remove();
  });

  it.each([60, 80, 120])("D1 ls cuts no reason at %i columns", async (columns) => {
    const screen = plain((await onTerminal(home, ["ls"], { columns })).screen);
    expect(widest(screen)).toBeLessThanOrEqual(columns);
    expect(screen.replaceAll(/\s+/g, " ")).toContain(
      "The server exited with code 3 before the handshake: fatal: no configuration found",
    );
    expect(screen).toMatch(/^NAME .*STATUS/);
    expect(screen).not.toContain("…");
  });

  it("D25 ls --wide leaves out no column, and cuts none", async () => {
    const screen = plain((await onTerminal(home, ["ls", "--wide"], { columns: 80 })).screen);
    expect(screen).toMatch(/^NAME +KIND +STATUS .*P50 +P95 .*GROUPS +TOKENS +PID +MCP +RUN\n/);
    expect(screen).toMatch(
      new RegExp(`^it +node +● running .*≈\\d+ +${String.raw`\d+ +2025-11-25`} .*echo\\.mjs$`, "m"),
    );
  });
});
