import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findLocal } from "./local.ts";
import { parseNpx } from "./npx-call.ts";

let home: string;

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "plugboard-local-")));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function write(path: string, content: unknown = ""): Promise<void> {
  const file = join(home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
}

async function install(folder: string, name: string, { bin = name.replace(/^.*\//, ""), linked = true } = {}) {
  await write(`${folder}/node_modules/${name}/package.json`, { name, version: "1.2.3", bin: { [bin]: "cli.js" } });
  await write(`${folder}/node_modules/${name}/cli.js`);
  if (!linked) return;
  await mkdir(join(home, folder, "node_modules/.bin"), { recursive: true });
  await symlink(`../${name}/cli.js`, join(home, folder, "node_modules/.bin", bin));
}

const find = (cwd: string, ...args: string[]) => {
  const call = parseNpx(args);
  if (call === undefined) throw new Error("not understood");
  return findLocal(call, { cwd: join(home, cwd), home });
};

describe("a package of the folder that a server runs in", () => {
  it.each([["@a/server"], ["server"], ["server@1.2.3"]])("CF-2 is taken as npx would take it: %s", async (spec) => {
    await install("project", spec.replace(/@1.2.3$/, ""));
    await mkdir(join(home, "project/src"));
    const file = join(home, "project/node_modules", spec.replace(/@1.2.3$/, ""), "cli.js");
    for (const cwd of ["project", "project/src"]) {
      expect(await find(cwd, "-y", spec)).toEqual({ root: join(home, "project"), version: "1.2.3", file });
    }
  });

  it("is asked for by one of its programs", async () => {
    await install("project", "tools", { bin: "serve" });
    expect(await find("project", "-p", "tools", "serve")).toMatchObject({ version: "1.2.3" });
    expect(await find("project", "-p", "tools", "other")).toBe("unclear");
  });

  it.each([["@a/server@latest"], ["@a/server@^1.0"], ["@a/server@1.0.0"]])(
    "is left to npx where the version may not fit: %s",
    async (spec) => {
      await install("project", "@a/server");
      expect(await find("project", "-y", spec)).toBe("unclear");
    },
  );

  it("is left to npx where it stands further up than the project", async () => {
    await install(".", "@a/server");
    await write("inner/package.json", { name: "inner", version: "1.0.0" });
    expect(await find("inner", "-y", "@a/server")).toBe("unclear");
  });

  it("is left to npx where another package has a program of its name", async () => {
    await install("project", "other", { bin: "server" });
    expect(await find("project", "-y", "server")).toBe("unclear");
    await install("project", "server", { linked: false });
    expect(await find("project", "-y", "server")).toBe("unclear");
  });

  it("is left to npx where the project itself is it", async () => {
    await write("project/package.json", { name: "server", version: "1.0.0", bin: "cli.js" });
    expect(await find("project", "-y", "server")).toBe("unclear");
  });

  it("is not there", async () => {
    await install("project", "@a/other");
    expect(await find("project", "-y", "@a/server")).toBeUndefined();
    expect(await find("elsewhere", "-y", "server")).toBeUndefined();
  });

  it("settings of a project for npm are npx's to read; those of the user count anyway", async () => {
    await write("project/.npmrc", "registry=http://example.com");
    await write(".npmrc", "registry=http://example.com");
    expect(await find("project", "-y", "@a/server")).toBe("unclear");
    expect(await find("elsewhere", "-y", "@a/server")).toBeUndefined();
  });
});
