import { describe, expect, it } from "vitest";
import type { Launcher } from "../../config/schema/types.ts";
import { HubError } from "../../errors.ts";
import { launchCommand } from "./command-line.ts";
import type { LaunchCommand } from "./command-line.ts";

interface Given {
  launcher?: Launcher;
  command?: string;
  args: string[];
  env?: Record<string, string>;
  hardened?: boolean;
}

function launch({ launcher = "docker", command = launcher, args, env = {}, hardened = false }: Given): LaunchCommand {
  const transport = { type: "stdio", launcher, command, args, hardened } as const;
  return launchCommand({ name: "db", transport, env, secrets: [] }, { instance: "i1", unique: "u1" });
}

const ADDED = ["--init", "--interactive", "--rm", "--name=plugboard-db-u1"];
const LABEL = "--label=plugboard.instance=i1";
const START = { PLUGBOARD_START: "i1.u1" };

function refusal(given: Given): unknown {
  try {
    return launch(given);
  } catch (error) {
    return error instanceof HubError ? error.toJSON() : error;
  }
}

describe("the command of a server", () => {
  it("LC-2 is what the config says, with its variables", () => {
    const given = { launcher: "npx", args: ["-y", "some-mcp", "--env", "A=b"], env: { KEY: "k" } } as const;
    expect(launch({ ...given, args: [...given.args] })).toEqual({
      command: "npx",
      args: given.args,
      launcher: "npx",
      env: { KEY: "k", ...START },
    });
  });

  it("keeps the folder", () => {
    const transport = {
      type: "stdio",
      launcher: "binary",
      command: "x",
      args: [],
      cwd: "/srv",
      hardened: false,
    } as const;
    const command = launchCommand({ name: "x", transport, env: {}, secrets: [] }, { instance: "i", unique: "u" });
    expect(command.cwd).toBe("/srv");
  });

  it("does not exist for a server that is reached by URL", () => {
    const transport = { type: "http", url: "http://x", headers: {} } as const;
    const resolved = { name: "x", transport, env: {}, secrets: [] };
    expect(() => launchCommand(resolved, { instance: "i", unique: "u" })).toThrow(HubError);
  });
});

describe("docker run", () => {
  it("LC-4 gets an init, a name, a label, and what a stdio server needs", () => {
    expect(launch({ args: ["run", "image", "arg"] })).toEqual({
      command: "docker",
      args: ["run", ...ADDED, LABEL, "image", "arg"],
      launcher: "docker",
      env: START,
      container: { name: "plugboard-db-u1", client: "docker" },
    });
  });

  it.each([
    [["--name", "mine"], "mine"],
    [["--name=mine"], "mine"],
  ])("keeps the user's name %j", (own, name) => {
    const command = launch({ args: ["run", ...own, "image"] });
    expect(command.args).toEqual(["run", "--init", "--interactive", "--rm", LABEL, ...own, "image"]);
    expect(command.container?.name).toBe(name);
  });

  it.each([
    [
      ["-i", "--rm"],
      ["--init", "--name=plugboard-db-u1", LABEL, "-i", "--rm"],
    ],
    [
      ["-it", "--rm=true", "--init=false"],
      ["--name=plugboard-db-u1", LABEL, "-i", "-t", "--rm=true", "--init=false"],
    ],
    [
      ["--interactive", "-p", "1:2", "-u", "me"],
      ["--init", "--rm", "--name=plugboard-db-u1", LABEL, "--interactive", "-p", "1:2", "-u", "me"],
    ],
    // The value of an option is never read as an option or as the image.
    [
      ["--hostname", "--rm", "-w", "-i"],
      [...ADDED, LABEL, "--hostname", "--rm", "-w", "-i"],
    ],
    [["-i=false"], ["--init", "--rm", "--name=plugboard-db-u1", LABEL, "-i=false"]],
  ])("adds nothing twice to %j", (own, expected) => {
    expect(launch({ args: ["run", ...own, "image", "--init", "-e", "A=b"] }).args).toEqual([
      "run",
      ...expected,
      "image",
      "--init",
      "-e",
      "A=b",
    ]);
  });

  it.each([
    [["-e", "KEY=s3cret"]],
    [["--env", "KEY=s3cret"]],
    [["--env=KEY=s3cret"]],
    [["-eKEY=s3cret"]],
    [["-e=KEY=s3cret"]],
    [["-ie", "KEY=s3cret"]],
    [["-itdqPeKEY=s3cret"]],
    [["-e", "KEY=old", "-e", "KEY=s3cret"]],
  ])("T15 moves the value of %j into the client's environment", (own) => {
    const command = launch({ args: ["run", ...own, "image"] });
    expect(command.args.join(" ")).not.toContain("s3cret");
    expect(command.args.join(" ")).toMatch(/ -e KEY image$/);
    expect(command.env).toEqual({ KEY: "s3cret", ...START });
  });

  it("T15 MC-T6 names every variable of the config once, and gives its value to the client", () => {
    const command = launch({ args: ["run", "-e", "A", "-e", "B=from args", "image"], env: { A: "1", B: "2", C: "" } });
    expect(command.args.slice(-7)).toEqual(["-e", "A", "-e", "B", "-e", "C", "image"]);
    expect(command.env).toEqual({ A: "1", B: "2", C: "", ...START });
  });

  it("keeps the container's PATH and HOME away from the client, and the client's settings out of the container", () => {
    const command = launch({
      args: ["run", "-e", "HOME=/app", "image"],
      env: { PATH: "/app/bin", DOCKER_HOST: "tcp://engine" },
    });
    expect(command.args.slice(-5)).toEqual(["-e", "HOME=/app", "-e", "PATH=/app/bin", "image"]);
    expect(command.env).toEqual({ DOCKER_HOST: "tcp://engine", ...START });
  });

  it("leaves other docker commands as they are", () => {
    const command = launch({ args: ["exec", "-i", "box", "server"], env: { A: "1" } });
    expect(command).toMatchObject({ args: ["exec", "-i", "box", "server"], env: { A: "1" } });
    expect(command).not.toHaveProperty("container");
  });

  it("accepts an incomplete command line", () => {
    expect(launch({ args: ["run"] }).args).toEqual(["run", ...ADDED, LABEL]);
    expect(launch({ args: ["run", "-e"] }).args).toEqual(["run", ...ADDED, LABEL]);
    expect(launch({ args: ["run", "--", "-e"] }).args).toEqual(["run", ...ADDED, LABEL, "--", "-e"]);
    expect(launch({ args: ["run", "--constructor", "x", "-"] }).args).toEqual([
      "run",
      ...ADDED,
      LABEL,
      "--constructor",
      "x",
      "-",
    ]);
  });
});

describe("a hardened docker run", () => {
  it("SE-4 has no network, no writable root, no capabilities and no new privileges", () => {
    expect(launch({ args: ["run", "image"], hardened: true }).args).toEqual([
      "run",
      ...ADDED,
      "--network=none",
      "--read-only",
      "--cap-drop=ALL",
      "--security-opt=no-new-privileges",
      LABEL,
      "image",
    ]);
  });

  it("SE-4 lets the user loosen single options", () => {
    const own = ["--net", "internal", "--read-only=false", "--cap-drop", "NET_RAW", "--security-opt=label=x"];
    expect(launch({ args: ["run", ...own, "image"], hardened: true }).args).toEqual([
      "run",
      ...ADDED,
      LABEL,
      ...own,
      "image",
    ]);
  });

  it.each([
    [["run", "--privileged", "image"], "args.1"],
    [["run", "-i", "--privileged=true", "image"], "args.2"],
    [["run", "--network=host", "image"], "args.1"],
    [["run", "--rm", "--net", "host", "image"], "args.2"],
    [["run", "--pid=host", "image"], "args.1"],
    [["run", "--ipc", "host", "image"], "args.1"],
    [["run", "--use-api-socket", "image"], "args.1"],
    [["run", "-v", "/var/run/docker.sock:/var/run/docker.sock", "image"], "args.1"],
    [["run", "-v/run/../run/docker.sock:/d", "image"], "args.1"],
    [["run", "--volume=/:/host:ro", "image"], "args.1"],
    [["run", "--mount", "type=bind,src=/var/run,dst=/x", "image"], "args.1"],
    [["run", "--mount=type=bind,source=/run/docker.sock,target=/d", "image"], "args.1"],
    [["exec", "-i", "box", "server"], "args.0"],
  ])("SE-4 T08 refuses %j", (args, field) => {
    expect(refusal({ args, hardened: true })).toMatchObject({ kind: "InvalidConfig", field });
  });

  it.each([
    [["run", "--privileged=false", "image"]],
    [["run", "-v", "data:/data", "-v", "/srv/data:/d", "image", "--privileged"]],
    [["run", "--mount", "type=tmpfs,dst=/tmp", "image"]],
  ])("SE-4 accepts %j", (args) => {
    expect(refusal({ args, hardened: true })).toHaveProperty("container");
  });

  it("SE-4 is refused for launchers that cannot give it", () => {
    expect(refusal({ launcher: "npx", args: ["-y", "x"], hardened: true })).toMatchObject({ field: "hardened" });
  });
});
