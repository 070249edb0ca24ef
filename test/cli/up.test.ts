// `plugboard up`: when it refuses to start, and what it does with the file descriptors that it inherits.

import { readdirSync, readlinkSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openHome, run } from "../support/cli.ts";
import { fixture, makeHome, startHub } from "../support/hub.ts";
import { processesWithMark, seesTags } from "../support/processes.ts";
import { listen } from "../support/sockets.ts";

describe("up", () => {
  it("F21 a port in use ends the start before any process is spawned", async () => {
    const blocker = createServer();
    const port = await listen(blocker);
    const file = join((await openHome({ onTestFinished }, {})).dir, "starts");
    const { code, stdout, stderr } = await run({ it: fixture("exits-on-probe", file) }, ["up", "--port", String(port)]);
    blocker.close();
    expect({ code, stdout }).toEqual({ code: 7, stdout: "" });
    expect(stderr).toMatch(
      new RegExp(`^error: Port ${port} on 127.0.0.1 is already in use\n {2}(?:fix|note): .*--port`),
    );
    await expect(readFile(file)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it.each(["0.0.0.0", "::", "192.168.0.1", "example.com"])(
    "SE-3 --host %s is rejected and starts nothing",
    async (host) => {
      const file = join((await openHome({ onTestFinished }, {})).dir, "starts");
      const finished = await run({ it: fixture("exits-on-probe", file) }, ["up", "--port", "0", "--host", host]);
      expect(finished).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("Refused to listen") });
      await expect(readFile(file)).rejects.toMatchObject({ code: "ENOENT" });
    },
  );
});

it.runIf(seesTags)("T10 file descriptors that the hub inherits are closed in the hub and in its servers", async () => {
  const home = await makeHome({ it: fixture("echo") });
  const file = join(home.dir, "private");
  await writeFile(file, "secret", { mode: 0o600 });
  // Three numbers: after a gap, above the first ones that Node uses, and far above.
  const through = ["bash", "-c", 'exec 9<"$0" 20<"$0" 200<"$0" 201> >(cat); exec "$@"', file];
  const hub = await startHub(home, { through });
  const opened = (pid: number) =>
    readdirSync(`/proc/${pid}/fd`).map((fd): [number, string] => [Number(fd), target(`/proc/${pid}/fd/${fd}`)]);
  try {
    const servers = processesWithMark(home.mark);
    expect(servers).toHaveLength(1);
    for (const pid of servers) {
      const given = opened(pid).filter(([fd, path]) => path === file || fd >= 200);
      expect(given).toEqual([]);
    }
    expect(opened(hub.process.pid ?? 0).filter(([fd]) => fd >= 200)).toEqual([]);
  } finally {
    await hub.stop();
    await home.remove();
  }
});

/** The file of a descriptor; empty if it has been closed in the meantime. */
function target(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
