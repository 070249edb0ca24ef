// A mirror: a registry copied into a folder, and used in its place.

import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { openHome } from "../support/cli.ts";
import { FakeRegistry, META, npmServer } from "../support/fake-registry.ts";
import { plugboard } from "../support/hub.ts";

let fake: FakeRegistry;
let folder: string;

const changed = (name: string, version: string, updatedAt: string) => ({
  ...npmServer(name, {}, version),
  _meta: { [META]: { status: "active", updatedAt } },
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "plugboard-mirror-"));
  fake = await FakeRegistry.open([
    changed("io.example/a", "1.0.0", "2026-01-01T00:00:00.000Z"),
    changed("io.example/b", "1.0.0", "2026-01-01T00:00:00.000Z"),
    changed("io.example/c", "1.0.0", "2026-01-01T00:00:00.000Z"),
  ]);
});
afterEach(async () => {
  await fake.close();
  await rm(folder, { recursive: true, force: true });
});

it("RG-1 is complete, is brought up to date, and works without the registry", async (test) => {
  const home = await openHome(test);
  const mirror = (...args: string[]) =>
    plugboard(home, ["registry", "mirror", folder, "--registry", fake.url, ...args]);
  expect((await mirror()).stdout).toMatch(/^Wrote 3 versions of servers to .*, 3 of them new/);
  expect(await readdir(folder)).toEqual(["servers-00001.json"]);
  fake.servers.unshift(changed("io.example/a", "1.1.0", "2026-02-01T00:00:00.000Z"));
  expect((await mirror("--since", "2026-01-15T00:00:00Z", "--json")).stdout).toContain('"read": 1');
  await fake.close();
  const { stdout } = await plugboard(home, ["search", "example", "--registry", folder, "--json"]);
  const found = JSON.parse(stdout).servers.map(
    ({ name, version }: { name: string; version: string }) => `${name} ${version}`,
  );
  expect(found.toSorted()).toEqual(["io.example/a 1.1.0", "io.example/b 1.0.0", "io.example/c 1.0.0"]);
  const old = await plugboard(home, ["info", "io.example/a@1.0.0", "--registry", folder]);
  expect(old.stdout).toContain("npx -y @example/a@1.0.0");
});

it("RG-1 a registry that fails leaves the folder as it was", async (test) => {
  const home = await openHome(test);
  fake.mood = 500;
  const { code, stderr } = await plugboard(home, ["registry", "mirror", folder, "--registry", fake.url]);
  expect([code, stderr]).toEqual([4, expect.stringContaining("answered with HTTP status 500")]);
  expect(await readdir(folder)).toEqual([]);
});

it.each([
  [["--registry", "curated"], /curated cannot be mirrored/],
  [["--since", "yesterday"], /not a time/],
])("RG-1 %j is refused", async (args, message) => {
  const home = await openHome({ onTestFinished });
  const { code, stderr } = await plugboard(home, ["registry", "mirror", folder, ...args]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});
