// What a failed write looks like to the hub's users. The writes themselves are tested in shared/.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createFileExclusive, writeFileAtomic } from "./atomic.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-atomic-"));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

it("CF-8 the error of a failed write names the file and the reason", async () => {
  const failure = { kind: "IoError", detail: expect.stringContaining("EISDIR") };
  await expect(writeFileAtomic(dir, "x", { mode: 0o600 })).rejects.toMatchObject(failure);
  const file = join(dir, "file");
  await writeFile(file, "");
  const missing = join(file, "key");
  await expect(createFileExclusive(missing, "x", { mode: 0o600 })).rejects.toMatchObject({
    kind: "IoError",
    message: `Cannot write ${missing}`,
  });
});
