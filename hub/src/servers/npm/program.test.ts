import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBin, inside, toProgram } from "./program.ts";

describe("the program of a package", () => {
  it.each([
    ["one", { name: "@a/x", bin: "cli.js" }, undefined, "cli.js"],
    ["the only one, whatever its name", { name: "x", bin: { other: "o.js" } }, undefined, "o.js"],
    ["one with two names", { name: "x", bin: { a: "o.js", b: "o.js" } }, undefined, "o.js"],
    ["that of the package's name", { name: "@a/x", bin: { y: "y.js", x: "x.js" } }, undefined, "x.js"],
    ["the one that is asked for", { name: "x", bin: { y: "y.js", x: "x.js" } }, "y", "y.js"],
    ["none of several others", { name: "x", bin: { y: "y.js", z: "z.js" } }, undefined, undefined],
    ["none that it has not", { name: "x", bin: { x: "x.js" } }, "y", undefined],
    ["none of those that every object has", { name: "x", bin: { x: "x.js" } }, "constructor", undefined],
    ["none", { name: "x" }, undefined, undefined],
  ])("is %s", (_what, manifest, program, expected) => {
    expect(findBin({ version: "1.0.0", ...manifest }, program)).toBe(expected);
  });

  it("T08 is inside of the package", () => {
    expect(inside("/p/x", "dist/a.js")).toBe("/p/x/dist/a.js");
    expect(inside("/p/x", "./a.js")).toBe("/p/x/a.js");
    for (const file of ["../y/a.js", "/bin/sh", "dist/../../y", "../x-y/a.js"])
      expect(inside("/p/x", file)).toBeUndefined();
  });

  describe("is run", () => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "plugboard-program-"));
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    it.each([
      ["a.js", "#!/usr/bin/env node\nx", "node"],
      ["b", "#!/usr/bin/env node\r\nx", "node"],
      ["c", "#! /usr/local/bin/node \nx", "node"],
      ["d.mjs", "import x", "node"],
      ["e.cjs", "", "node"],
      ["f.js", "#!/usr/bin/env -S node --enable-source-maps\nx", "itself"],
      ["g.js", "#!/usr/bin/env bun\nx", "itself"],
      ["h", "#!/bin/sh\nexec node x", "itself"],
      ["i", "\u007fELF", "itself"],
    ])("%s %j by %s", async (name, text, by) => {
      const file = join(folder, name);
      await writeFile(file, text);
      await chmod(file, 0o755);
      const expected = by === "node" ? { command: "/n/node", args: [file] } : { command: file, args: [] };
      expect(await toProgram(file, "/n/node")).toEqual(expected);
    });
  });
});
