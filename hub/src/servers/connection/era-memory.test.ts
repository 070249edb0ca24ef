import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Transport } from "../../config/schema/types.ts";
import { keptFile } from "../../lib/files/kept-text.ts";
import { EraMemory } from "./era-memory.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const stdio = (...args: string[]): Transport => ({
  type: "stdio",
  launcher: "binary",
  command: "server",
  args,
  hardened: false,
});
const remote = (url: string, headers = {}): Transport => ({ type: "http", url, headers });

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-eras-"));
  path = join(dir, "eras.json");
});
afterEach(() => rm(dir, { recursive: true }));

describe("verdicts", () => {
  it("CL-2 servers are identified by their command or address", async () => {
    const memory = await EraMemory.open();
    memory.remember(stdio("a"), "legacy");
    memory.remember(remote("http://h/mcp"), "modern");
    expect(memory.find(stdio("a"))).toBe("legacy");
    expect(memory.find(stdio("b"))).toBeUndefined();
    expect(memory.find({ ...stdio("a"), cwd: "/elsewhere" } as Transport)).toBeUndefined();
    expect(memory.find(remote("http://h/mcp", { authorization: "x" }))).toBe("modern");
    expect(memory.find(remote("http://h/other"))).toBeUndefined();
  });

  it("CL-2 a legacy entry expires after a day, so that an update is noticed; a modern one does not", async () => {
    const memory = await EraMemory.open();
    memory.remember(stdio("old"), "legacy", 0);
    memory.remember(stdio("new"), "modern", 0);
    expect(memory.find(stdio("old"), 24 * HOUR)).toBe("legacy");
    expect(memory.find(stdio("old"), 24 * HOUR + 1)).toBeUndefined();
    expect(memory.find(stdio("new"), 1000 * HOUR)).toBe("modern");
  });

  it("CL-2 the day counts from the last probe and is not extended by each start", async () => {
    const memory = await EraMemory.open();
    memory.remember(stdio(), "legacy", 0);
    memory.remember(stdio(), "legacy", 23 * HOUR);
    expect(memory.find(stdio(), 25 * HOUR)).toBeUndefined();
    memory.remember(stdio(), "legacy", 25 * HOUR);
    expect(memory.find(stdio(), 26 * HOUR)).toBe("legacy");
  });

  it("CL-2 the latest entry wins", async () => {
    const memory = await EraMemory.open();
    memory.remember(stdio(), "legacy");
    memory.remember(stdio(), "modern");
    expect(memory.find(stdio())).toBe("modern");
  });

  it("the client features that a server uses are remembered for a month", async () => {
    const memory = await EraMemory.open();
    memory.remember(stdio(), "legacy", 0);
    memory.featureRequested(stdio(), "roots", 0);
    memory.featureRequested(stdio(), "elicitation", 20 * DAY);
    expect([...memory.requestedFeatures(stdio(), 29 * DAY)]).toEqual(["elicitation", "roots"]);
    expect([...memory.requestedFeatures(stdio(), 31 * DAY)]).toEqual(["elicitation"]);
    expect(memory.find(stdio(), 1)).toBe("legacy");
    expect(memory.requestedFeatures(stdio("another"), 0).size).toBe(0);
  });

  it("CL-2 that a modern server refuses the legacy handshake is remembered for a day", async () => {
    const memory = await EraMemory.open();
    expect(memory.mayKnowLegacy(stdio(), 0)).toBe(true);
    memory.refusedLegacy(stdio(), 0);
    expect([memory.mayKnowLegacy(stdio(), DAY), memory.mayKnowLegacy(stdio(), DAY + 1)]).toEqual([false, true]);
  });

  it("SE-5 the oldest entries are dropped beyond the bound", async () => {
    const memory = await EraMemory.open();
    for (let n = 0; n <= 1000; n++) memory.remember(stdio(String(n)), "modern");
    expect(memory.find(stdio("0"))).toBeUndefined();
    expect(memory.find(stdio("1"))).toBe("modern");
    expect(memory.find(stdio("1000"))).toBe("modern");
  });
});

describe("the file", () => {
  it("CL-2 outlives the hub", async () => {
    const memory = await EraMemory.open(keptFile(path));
    memory.featureRequested(stdio("c"), "sampling");
    memory.remember(stdio("a"), "legacy");
    memory.remember(stdio("b"), "modern");
    await memory.saved();
    const later = await EraMemory.open(keptFile(path));
    expect([later.find(stdio("a")), later.find(stdio("b"))]).toEqual(["legacy", "modern"]);
    expect([...later.requestedFeatures(stdio("c"))]).toEqual(["sampling"]);
  });

  it("SE-1 the file contains neither arguments nor addresses, and only its owner can read it", async () => {
    const memory = await EraMemory.open(keptFile(path));
    memory.remember(stdio("--token=s3cret"), "legacy");
    memory.remember(remote("http://user:s3cret@host/mcp"), "legacy");
    await memory.saved();
    expect(await readFile(path, "utf8")).not.toMatch(/s3cret|host|token/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it.each(["", "{", "[]", "null", '{"x": 1}', '{"x": {"era": "stone", "at": 1}}', '{"x": {"era": "legacy"}}'])(
    "CL-2 a file that contains %j is reported, counts as empty, and is overwritten",
    async (text) => {
      const warnings: string[] = [];
      await EraMemory.open(keptFile(path), (message) => warnings.push(message));
      expect(warnings).toEqual([]);
      await writeFile(path, text);
      const memory = await EraMemory.open(keptFile(path), (message) => warnings.push(message));
      expect(warnings).toEqual(text === '{"x": {"era": "legacy"}}' ? [] : [expect.stringContaining("is damaged")]);
      memory.remember(stdio(), "legacy");
      await memory.saved();
      expect((await EraMemory.open(keptFile(path))).find(stdio())).toBe("legacy");
    },
  );

  it("F32 a file that cannot be written costs a probe and nothing else", async () => {
    const memory = await EraMemory.open(keptFile(join(dir, "no/such/folder/eras.json")));
    memory.remember(stdio(), "legacy");
    await memory.saved();
    expect(memory.find(stdio())).toBe("legacy");
  });
});
