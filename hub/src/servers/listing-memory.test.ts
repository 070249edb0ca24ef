import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Transport } from "../config/types.ts";
import { ListingMemory, type Remembered } from "./listing-memory.ts";

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "plugboard-memory-")), "listings");
});
afterEach(() => rm(join(folder, ".."), { recursive: true, force: true }));

const program = (command: string): Transport => ({
  type: "stdio",
  launcher: "binary",
  command,
  args: [],
  hardened: false,
});
const entry = (command: string, env = {}) => ({ name: "it", transport: program(command), env });
const offers = (...tools: string[]): Remembered => ({
  listing: {
    tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })),
    resources: [],
    templates: [],
    prompts: [],
  },
  introduction: undefined,
  warnings: ["careful"],
  seen: { a: "1" },
});

it("what was remembered is there for the next run, by entry", async () => {
  const memory = new ListingMemory(folder);
  memory.remember(entry("a"), offers("x"));
  await memory.saved();
  const later = new ListingMemory(folder);
  expect(await later.recall(entry("a"))).toEqual(offers("x"));
  expect(await later.recall(entry("b"))).toBeUndefined();
  expect(await later.recall(entry("a", { KEY: { value: "v" } }))).toBeUndefined();
});

it.each([
  ["cut off", '{"tools":['],
  ["of another form", '{"tools":{}}'],
  ["empty", ""],
  ["too large", JSON.stringify({ tools: ["x".repeat(2000)] })],
])("a file that is %s is said, and is no memory", async (_, text) => {
  const warnings: string[] = [];
  const memory = new ListingMemory(folder, { maxBytes: 1000, onWarning: (message) => warnings.push(message) });
  memory.remember(entry("a"), offers("x"));
  await memory.saved();
  const [name = ""] = await readdir(folder);
  await writeFile(join(folder, name), text);
  expect(await memory.recall(entry("a"))).toBeUndefined();
  expect(warnings).toEqual([expect.stringMatching(/^What server "it" offered last cannot be read from /)]);
});

it("a file of an earlier version, or one that somebody edited, is read with its faults repaired", async () => {
  const memory = new ListingMemory(folder);
  memory.remember(entry("a"), offers("x"));
  await memory.saved();
  const [name = ""] = await readdir(folder);
  const tools = [{ name: "x", description: null }, { name: 7 }];
  await writeFile(join(folder, name), JSON.stringify({ tools, resources: [], templates: [], prompts: [] }));
  const { listing, seen } = (await memory.recall(entry("a"))) ?? {};
  expect(listing?.tools).toEqual([{ name: "x", inputSchema: { type: "object" } }]);
  expect(seen).toEqual({});
});

it("files are few, and the oldest go first; what is too large is not kept", async () => {
  const memory = new ListingMemory(folder, { maxFiles: 2, maxBytes: 1000 });
  for (const [age, command] of ["a", "b"].entries()) {
    memory.remember(entry(command), offers(command));
    await memory.saved();
    for (const name of await readdir(folder)) await utimes(join(folder, name), 1000 + age, 1000 + age);
  }
  const [oldest] = await readdir(folder);
  await utimes(join(folder, oldest ?? ""), 10, 10);
  memory.remember(entry("c"), offers("c"));
  await memory.saved();
  expect(await readdir(folder)).toHaveLength(2);
  expect(await readdir(folder)).not.toContain(oldest);
  memory.remember(entry("c"), offers("x".repeat(2000)));
  await memory.saved();
  expect(await readdir(folder)).toHaveLength(1);
});
