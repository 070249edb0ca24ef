// What whoever started the hub left open in it reaches no server: neither a file nor a pipe, whatever its number.

import { readdirSync, readlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fixture, makeHome, startHub } from "../support/hub.ts";
import { processesWithMark, seesTags } from "../support/processes.ts";

it.runIf(seesTags)(
  "T10 descriptors that the hub was started with are closed in its servers, and in itself",
  async () => {
    const home = await makeHome({ it: fixture("echo") });
    const file = join(home.dir, "private");
    await writeFile(file, "secret", { mode: 0o600 });
    // 9 has a gap below it, 20 is beyond the first that Node looks at, 200 far beyond.
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
  },
);

/** One that is closed meanwhile leads nowhere. */
function target(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
