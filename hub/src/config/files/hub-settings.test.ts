import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readHubSettings } from "./hub-settings.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "plugboard-settings-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const read = async (text: string) => {
  await writeFile(join(folder, "hub.json"), text);
  return readHubSettings(folder);
};

describe("AU-3 hub.json", () => {
  it("is optional, and may have comments", async () => {
    expect(await readHubSettings(folder)).toEqual({});
    expect(await read("// nothing yet")).toEqual({});
    expect(await read('{ "auth": { "mcp": "required" } } // a comment')).toEqual({ auth: { mcp: "required" } });
  });

  it.each([
    ['{ "auth": { "mcp": "requird" } }', 'mcp must be "open" or "required"', "auth.mcp"],
    ['{ "auth": { "mpc": "required" } }', "mpc", "auth.mpc"],
    ['{ "listen": { "hots": "0.0.0.0" } }', "hots", "listen.hots"],
    ["[]", "", undefined],
    ['{ "auth": ', "not valid JSON", undefined],
  ])("refuses %s, and names the file", async (text, message, field) => {
    const error = await read(text).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: "InvalidConfig", hint: expect.any(String) });
    expect(String(error)).toContain(join(folder, "hub.json"));
    expect(String(error)).toContain(message);
    if (field !== undefined) expect(error).toMatchObject({ field });
  });
});
