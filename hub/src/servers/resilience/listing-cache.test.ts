import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Transport } from "../../config/schema/types.ts";
import { ListingCache, type CachedListing } from "./listing-cache.ts";
import { ListingFiles } from "./listing-files.ts";

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
const offers = (...tools: string[]): CachedListing => ({
  listing: {
    tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })),
    resources: [],
    templates: [],
    prompts: [],
  },
  introduction: undefined,
  warnings: ["careful"],
});

it("a saved listing is found by its entry in the next run", async () => {
  const memory = new ListingCache(new ListingFiles(folder));
  memory.save(entry("a"), offers("x"));
  await memory.saved();
  const later = new ListingCache(new ListingFiles(folder));
  expect(await later.find(entry("a"))).toEqual(offers("x"));
  expect(await later.find(entry("b"))).toBeUndefined();
  expect(await later.find(entry("a", { KEY: { value: "v" } }))).toBeUndefined();
});

it.each([
  ["cut off", '{"tools":['],
  ["of another form", '{"tools":{}}'],
  ["empty", ""],
  ["too large", JSON.stringify({ tools: ["x".repeat(2000)] })],
])("a file that is %s is reported and counts as missing", async (_, text) => {
  const warnings: string[] = [];
  const memory = new ListingCache(new ListingFiles(folder, { maxBytes: 1000 }), {
    onWarning: (message) => warnings.push(message),
  });
  memory.save(entry("a"), offers("x"));
  await memory.saved();
  const [name = ""] = await readdir(folder);
  await writeFile(join(folder, name), text);
  expect(await memory.find(entry("a"))).toBeUndefined();
  expect(warnings).toEqual([expect.stringMatching(/^The cached listing of server "it" in .* cannot be read/)]);
});

it("a file of an earlier version, or an edited one, is repaired", async () => {
  const memory = new ListingCache(new ListingFiles(folder));
  memory.save(entry("a"), offers("x"));
  await memory.saved();
  const [name = ""] = await readdir(folder);
  const tools = [{ name: "x", description: null }, { name: 7 }];
  await writeFile(join(folder, name), JSON.stringify({ tools, resources: [], templates: [], prompts: [] }));
  const { listing } = (await memory.find(entry("a"))) ?? {};
  expect(listing?.tools).toEqual([{ name: "x", inputSchema: { type: "object" } }]);
});

it("the number of files is bounded, the oldest go first, and large listings are not kept", async () => {
  const memory = new ListingCache(new ListingFiles(folder, { maxFiles: 2 }), { maxBytes: 1000 });
  for (const [age, command] of ["a", "b"].entries()) {
    memory.save(entry(command), offers(command));
    await memory.saved();
    for (const name of await readdir(folder)) await utimes(join(folder, name), 1000 + age, 1000 + age);
  }
  const [oldest] = await readdir(folder);
  await utimes(join(folder, oldest ?? ""), 10, 10);
  memory.save(entry("c"), offers("c"));
  await memory.saved();
  expect(await readdir(folder)).toHaveLength(2);
  expect(await readdir(folder)).not.toContain(oldest);
  memory.save(entry("c"), offers("x".repeat(2000)));
  await memory.saved();
  expect(await readdir(folder)).toHaveLength(1);
});
