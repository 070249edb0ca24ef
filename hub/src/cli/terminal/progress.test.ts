import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import type { Io } from "../io.ts";
import { Output } from "./output.ts";
import { describe, Progress, type Startup } from "./progress.ts";
import { missingInWords } from "../commands/start.ts";

it.each([
  [{ stage: "installing", install: { position: 3, total: 48 } }, "installing, 3 of 48"],
  [{ stage: "queued", install: { position: 9, total: 48 } }, "waiting to be installed, 9 of 48"],
  [{ stage: "installing", install: { position: 1, total: 1 } }, "installing"],
  [{ stage: "downloading", install: null }, "downloading"],
  [{ stage: "handshake", since: new Date(Date.now() - 12_500).toISOString() }, "handshake (12s)"],
])("LC-10 a starting server: %j", (startup, text) => {
  expect(describe({ status: "starting", ...startup })).toBe(text);
});

it.each([
  [["running", "disabled", "stopped"], undefined],
  [["running", "error"], "1 of 2 servers is not running"],
  [["error", "disconnected", "unauthenticated"], "3 of 3 servers are not running"],
  [["error", "starting", "running"], "2 of 3 servers are not running, 1 of them is being retried"],
  [["starting", "running"], "1 of 2 servers is not running, it is being retried"],
])("the summary of %j is %j", (states, text) => {
  expect(missingInWords(states.map((status) => ({ status })))).toBe(text);
});

it("LC-10 with more servers than lines, finished ones stay above and waiting ones are counted", async () => {
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 10 });
  const io = { stdout: new PassThrough(), stderr, env: {} } as unknown as Io;
  const servers: Startup[] = Array.from({ length: 20 }, (_, n) => ({
    name: `s${n}`,
    kind: "npx",
    ...(n < 12 ? { status: "running", tools: [] } : { status: "starting", stage: n < 14 ? "installing" : "queued" }),
  }));
  await new Progress(io, new Output(io, {}), () => servers).show(Promise.resolve());
  const [first = "", second = ""] = String(stderr.read()).split("\u001b[J");
  expect(first.match(/✔/g)).toHaveLength(12);
  expect(first).toContain("… s13");
  expect(first).toContain("… 6 more waiting");
  expect(first).not.toContain("s14");
  // Only the lower part is redrawn.
  expect(second.startsWith("\u001b[3A")).toBe(true);
  expect(second).not.toContain("✔");
});
