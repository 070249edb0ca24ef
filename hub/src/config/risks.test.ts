// What counts as power over the machine.

import { describe, expect, it } from "vitest";
import { normalizeServer } from "./normalize.ts";
import { findRisks } from "./risks.ts";

const docker = (...args: string[]) =>
  findRisks(normalizeServer("x", { command: "docker", args: ["run", ...args, "image"] }));

describe("findRisks", () => {
  it.each([
    [["--privileged"]],
    [["--network=host"]],
    [["--network", "host"]],
    [["--net=host"]],
    [["--pid=host"]],
    [["-v", "/:/host"]],
    [["-v/:/host"]],
    [["--volume=/:/host:ro"]],
    [["--mount", "type=bind,source=/,target=/host"]],
    [["-v", "/var/run/docker.sock:/var/run/docker.sock"]],
    [["--cap-add=SYS_ADMIN"]],
    [["--device", "/dev/sda"]],
  ])("T08 docker %j is one", (args) => {
    expect(docker(...args)).toHaveLength(1);
  });

  it.each([
    [["-i", "--rm"]],
    [["--network=none", "--read-only", "--cap-drop=ALL"]],
    [["-v", "/home/me/project:/work"]],
    [["--mount", "type=bind,source=/home/me,target=/work"]],
  ])("T08 docker %j is none", (args) => {
    expect(docker(...args)).toEqual([]);
  });

  it("is about docker only, and about packages as well as commands", () => {
    expect(findRisks(normalizeServer("x", { command: "x", args: ["--privileged"] }))).toEqual([]);
    const entry = { package: { type: "docker", identifier: "i" }, args: ["--privileged"] };
    expect(findRisks(normalizeServer("x", entry))).toHaveLength(1);
  });

  it.each(["LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_X", "NODE_OPTIONS", "PYTHONSTARTUP", "BASH_ENV", "GIT_SSH_COMMAND"])(
    "T52 the variable %s is one",
    (name) => {
      expect(findRisks(normalizeServer("x", { command: "x", env: { [name]: "v", API_KEY: "k" } }))).toEqual([
        { field: `env.${name}`, reason: `the variable ${name} can make a program run other code` },
      ]);
    },
  );
});
