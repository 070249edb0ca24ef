import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, it } from "vitest";
import { LogFolder } from "../../../../test/support/calls.ts";
import { DEFAULT_RETENTION } from "../sqlite/sqlite-call-log.ts";
import { workerFile, type WorkerData } from "./worker-client.ts";

const DIST = fileURLToPath(new URL("../../../dist", import.meta.url));
const BUNDLE = join(DIST, "bundle/call-worker.js");

let folder: LogFolder;
beforeEach(async () => {
  folder = await LogFolder.create();
});
afterEach(() => folder.remove());

it.each([
  ["sqlite", "call-log/sqlite/worker.js", "bundle/call-worker.js"],
  ["postgres", "database/call-log/worker.js", "bundle/pg-call-worker.js"],
] as const)(
  "RS-4 compiled modules use the worker of the same compilation, never that of an older bundle: %s",
  (name, compiled, bundled) => {
    const worker = fileURLToPath(workerFile(pathToFileURL(join(DIST, "call-log/journal/worker-client.js")).href, name));
    expect(worker).toBe(join(DIST, compiled));
    expect(existsSync(worker)).toBe(true);
    for (const main of ["bundle/hub.js", "embed/index.js"])
      expect(workerFile(pathToFileURL(join(DIST, main)).href, name)).toBe(join(DIST, bundled));
  },
);

it("RS-4 a worker of another build refuses to run, with the fix", async () => {
  const { path, journals } = folder;
  const workerData: WorkerData = {
    address: path,
    folder: journals,
    writer: "w",
    retention: DEFAULT_RETENTION,
    buildId: "other",
  };
  const [error] = await once(new Worker(BUNDLE, { workerData }), "error");
  expect(String(error)).toMatch(/files of the hub were replaced since it started: plugboard restart/);
  expect(existsSync(path)).toBe(false);
});
