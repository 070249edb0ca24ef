import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isInProject, parseNpx } from "./npx-call.ts";

describe("a command line of npx", () => {
  it.each([
    [["-y", "server"], { name: "server", wanted: "", args: [] }],
    [["server", "-y", "--port", "1"], { name: "server", args: ["-y", "--port", "1"] }],
    [["--yes", "@a/server@1.2.3", "x"], { name: "@a/server", wanted: "1.2.3", exact: "1.2.3", args: ["x"] }],
    [["-y", "server@v1.2.3-rc.1+b"], { exact: "1.2.3-rc.1+b" }],
    [["-y", "@a/server@latest"], { name: "@a/server", wanted: "latest", exact: undefined }],
    [["-y", "server@^1.2"], { wanted: "^1.2", exact: undefined }],
    [["-y", "server@1"], { wanted: "1", exact: undefined }],
    [["--", "server", "--", "-y"], { name: "server", args: ["--", "-y"] }],
    [["-p", "@a/tools@2.0.0", "serve", "--x"], { name: "@a/tools", exact: "2.0.0", program: "serve", args: ["--x"] }],
    [["--package=@a/tools", "-y", "--", "serve"], { name: "@a/tools", program: "serve", args: [] }],
    [["-y", "-p=tools", "serve"], { name: "tools", program: "serve" }],
  ])("CF-2 %j is understood", (args, expected) => {
    expect(parseNpx(args)).toMatchObject(expected);
  });

  it.each([
    [[]],
    [["-y"]],
    [["--"]],
    [["-p", "tools"]],
    [["-p"]],
    [["-c", "server --x"]],
    [["-y", "--call=touch x"]],
    [["-y", "-p", "a", "-p", "b", "serve"]],
    [["-p", "tools", "../serve"]],
    [["-p", "tools", "-x"]],
    [["--registry=http://x", "server"]],
    [["--no-install", "server"]],
    [["--yes=false", "server"]],
    [["-y", "."]],
    [["-y", "./server"]],
    [["-y", "/srv/server"]],
    [["-y", "user/repository"]],
    [["-y", "github:user/repository"]],
    [["-y", "git+ssh://host/x.git"]],
    [["-y", "https://example.com/server.tgz"]],
    [["-y", "server.tgz"]],
    [["-y", "server@file.tar.gz"]],
    [["-y", "server@npm:other"]],
    [["-y", "server@file:x"]],
    [["-y", "server@>=1 <2"]],
    [["-y", "server; touch x"]],
    [["-y", "$(touch x)"]],
    [["-y", "server\n"]],
    [["-y", "@/server"]],
    [["-y", `x${"y".repeat(214)}`]],
    [["-y", "${PACKAGE}"]],
  ])("T08 %j is left to npx", (args) => {
    expect(parseNpx(args)).toBeUndefined();
  });
});

describe("CF-2 a server is left to npx in a project", () => {
  let home: string;
  beforeEach(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), "plugboard-project-")));
    await mkdir(join(home, "work/project/sub"), { recursive: true });
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it.each([
    ["a package.json", "work/project/package.json", true],
    ["a package.json in a folder above", "work/package.json", true],
    ["settings of npm", "work/project/.npmrc", true],
    ["no file of npm", "work/project/other.json", false],
    ["files of npm in the home folder only", "package.json", false],
  ])("CF-2 %s", async (_what, file, expected) => {
    await writeFile(join(home, file), "");
    expect(await isInProject(join(home, "work/project/sub"), home)).toBe(expected);
    expect(await isInProject(home, home)).toBe(false);
  });

  it("CF-2 node_modules", async () => {
    await mkdir(join(home, "work/project/node_modules"));
    expect(await isInProject(join(home, "work/project"), undefined)).toBe(true);
  });
});
