// SE-6: a kill at any moment loses no approval that was answered, and leaves no damaged file.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { ApprovalFiles } from "../../hub/src/approval/approval-files.ts";
import { scaled } from "../support/scale.ts";

const KILLS = scaled(10, 300);
/** The duration of several saves, so that kills hit every part of a save. */
const MAX_DELAY_MS = 40;
const LOOP = fileURLToPath(new URL("../fixtures/approve-loop.mjs", import.meta.url));

it(`SE-6 ${KILLS} kills during saves lose no approval`, { timeout: 600_000 }, async () => {
  const root = await mkdtemp(join(tmpdir(), "plugboard-approve-kill-"));
  const folder = join(root, "approvals");
  try {
    let acknowledged = 0;
    for (let kills = 0; kills < KILLS; kills++) {
      acknowledged = (await killDuringSave(folder, acknowledged + 1)) ?? acknowledged;
      const stored = (await new ApprovalFiles(folder).load()).approvals.get("it");
      if (stored?.state !== "kept") throw new Error(`The file is ${stored?.state ?? "missing"}`);
      const numbers = new Set([...(stored.record.pins?.values() ?? [])].map(({ definition }) => numberOf(definition)));
      // All tools are of one save, and it is the last one that was answered, or the one after it.
      expect([...numbers]).toHaveLength(1);
      expect([acknowledged, acknowledged + 1]).toContain([...numbers][0]);
    }
    expect(acknowledged).toBeGreaterThan(KILLS);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

/** The number of the last approval that was answered. */
async function killDuringSave(folder: string, first: number): Promise<number | undefined> {
  const child = spawn(process.execPath, [LOOP, folder, String(first)], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  await once(child.stdout, "data");
  await sleep(Math.random() * MAX_DELAY_MS);
  child.kill("SIGKILL");
  await once(child, "close");
  return output
    .split("\n")
    .filter((line) => /^\d+$/.test(line))
    .map(Number)
    .at(-1);
}

function numberOf({ description }: { readonly description?: unknown }): number {
  return Number.parseInt(String(description), 10);
}
