// Faults of the process itself, independent of the transport. Those that end it never return.

import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const CHUNK = Buffer.alloc(1 << 16, "stderr ");

export const processFaults = {
  exit: ({ step: { code = 1, stderr } }) => {
    if (stderr !== undefined) process.stderr.write(`${stderr}\n`);
    process.exit(code);
  },
  signal: async ({ step: { signal } }) => {
    process.kill(process.pid, signal);
    await sleep(60_000); // the signal comes first
  },
  /** Suspends itself until SIGCONT. */
  freeze: ({ spy }) => {
    spy.write("frozen");
    process.kill(process.pid, "SIGSTOP");
  },
  hold: ({ step: { gate }, spy }) => spy.gate(gate),
  late: ({ step: { ms } }) => sleep(ms),
  /** A helper that outlives its parent, in the parent's process group or in its own. */
  fork: ({ step: { detached = false }, spy }) => {
    const helper = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 60_000)"], {
      detached,
      stdio: "ignore",
    });
    helper.unref();
    spy.write("helper", { helper: helper.pid });
  },
  floodStderr: async ({ step: { bytes } }) => {
    for (let left = bytes; left > 0; left -= CHUNK.length) {
      await new Promise((resolve) => process.stderr.write(CHUNK, resolve));
    }
  },
};
