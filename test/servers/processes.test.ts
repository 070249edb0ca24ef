// When the hub is killed, none of its servers is left. Uses the built hub/dist.

import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { childEnvironment } from "../../hub/src/servers/process/environment.ts";
import { launchCommand } from "../../hub/src/servers/process/command-line.ts";
import type { LaunchCommand } from "../../hub/src/servers/process/command-line.ts";
import { nextLine, processesWithTag, program, seesTags, untilNoneWithTag } from "../support/processes.ts";

const SERVERS: readonly (readonly [command: string, ...args: string[]])[] = [
  [process.execPath, program("leaf.mjs")],
  [process.execPath, program("noeof.mjs")],
  [process.execPath, program("stubborn.mjs")],
  ["sh", program("forking.sh"), "stubborn.mjs"],
  [process.execPath, program("tree.mjs"), "leaf.mjs"],
  [process.execPath, program("tree.mjs"), "stubborn.mjs"],
  [process.execPath, program("setsid.mjs")],
];
// The processes of each server: 1, 1, 1, sh + helper (+ cat, if the shell does not replace itself), 3, 3, 2.
const PROCESSES = 13;

function commandsFor(instance: string): LaunchCommand[] {
  return SERVERS.map(([command, ...args], index) => {
    const transport = { type: "stdio", launcher: "binary", command, args, hardened: false } as const;
    const launch = launchCommand({ name: "s", transport, env: {}, secrets: [] }, { instance, unique: `${index}` });
    return { ...launch, env: childEnvironment(process.env, launch.env, { tag: instance, launcher: "binary" }) };
  });
}

describe.runIf(seesTags)("when the hub has exited", () => {
  it.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)("LC-5 no server is left after its %s", async (signal) => {
    const instance = `lc5-${process.pid}-${signal}`;
    const hub = spawn(
      process.execPath,
      [program("hub.mjs"), JSON.stringify({ instance, commands: commandsFor(instance) })],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    expect(await nextLine(hub.stdout)).toMatch(/^started( \d+){7}$/);
    expect(processesWithTag(instance).length).toBeGreaterThanOrEqual(PROCESSES);
    hub.kill(signal);
    await untilNoneWithTag(instance);
  });
});
