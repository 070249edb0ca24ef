// Client libraries of other languages with the same tools: Python's official SDK and an agent framework based on it, Go's official
// SDK and mcp-go. Libraries that are not installed are skipped, with the command that installs them.

import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { findPython } from "../support/python.ts";

const CLIENTS = fileURLToPath(new URL("../clients/", import.meta.url));
const GO_INSTALL = "install Go 1.25 or newer, from https://go.dev/dl";
const run = promisify(execFile);

const EXPECTED = {
  tools: ["ask", "echo", "fail", "picture", "sum"],
  text: "hello",
  image: ["image/png", "iVBORw0KGgo="],
  structured: { sum: 3 },
  error: [true, "the tool says no"],
  at_once: Array.from({ length: 40 }, (_, n) => String(n)),
};

/** Runs one program with an address. Returns its output. */
type Trial = (library: string, url: string) => Promise<string>;

const python = await findPython("mcp", "pydantic_ai.mcp");
const PYTHON: Trial | undefined =
  python.kind === "found"
    ? async (library, url) => (await run(python.path, [join(CLIENTS, "python/trial.py"), library, url])).stdout
    : undefined;

const hasGo = await run("go", ["version"]).then(
  () => true,
  () => process.stderr.write(`skipped, Go: no go on PATH: ${GO_INSTALL}\n`) && false,
);

describe("client libraries of other languages", () => {
  let home: Home;
  let hub: RunningHub;
  let built: string;

  beforeAll(async () => {
    home = await makeHome({ trial: fixture("trial") }, { work: { servers: ["trial"] } });
    hub = await startHub(home);
    built = await mkdtemp(join(tmpdir(), "plugboard-go-"));
    // Go caches earlier builds.
    if (hasGo) await run("go", ["build", "-o", join(built, "trial"), "."], { cwd: join(CLIENTS, "go") });
  });

  afterAll(async () => {
    await hub?.stop();
    await home?.remove();
    if (built !== undefined) await rm(built, { recursive: true, force: true });
  });

  const go: Trial = async (library, url) => (await run(join(built, "trial"), [library, url])).stdout;

  it.for([
    ["legacy", "2025-11-25"],
    ["modern", "2026-07-28"],
  ] as const)("GR-7 Python SDK, %s", { skip: PYTHON === undefined }, async ([mode, revision]) => {
    const report: unknown = JSON.parse((await PYTHON?.(mode, `${hub.url}/mcp`)) ?? "");
    expect(report).toEqual({ ...EXPECTED, revision, asked: expect.stringMatching(/^accept: Python, asked: .*Who/s) });
  });

  it("GR-7 pydantic-ai", { skip: PYTHON === undefined }, async () => {
    const report: unknown = JSON.parse((await PYTHON?.("pydantic-ai", `${hub.url}/mcp`)) ?? "");
    expect(report).toEqual({ ...EXPECTED, asked: expect.stringMatching(/^accept: Python, asked: .*Who/s) });
  });

  it.for([
    ["sdk legacy", "2025-11-25"],
    ["sdk modern", "2026-07-28"],
    ["mcp-go legacy", "2025-11-25"],
    ["mcp-go modern", "2026-07-28"],
  ] as const)("GR-7 Go, %s", { skip: !hasGo }, async ([library, revision]) => {
    const report: unknown = JSON.parse(await go(library, `${hub.url}/mcp`));
    expect(report).toEqual({ ...EXPECTED, revision, asked: expect.stringMatching(/^accept: Go, asked: .*Who/s) });
  });
});
