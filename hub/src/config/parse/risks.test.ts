// Settings that give a server access to the host.

import { describe, expect, it } from "vitest";
import { normalizeServer } from "./normalize.ts";
import { findRisks } from "./risks.ts";

const docker = (...args: string[]) =>
  findRisks(normalizeServer("x", { command: "docker", args: ["run", ...args, "image"] }));

describe("findRisks", () => {
  it.each([
    [["--privileged"]],
    [["--privileged=1"]],
    [["--privileged=True"]],
    [["--privileged=t"]],
    [["--network=host"]],
    [["--network", "host"]],
    [["--network", "name=host,alias=x"]],
    [["--net=host"]],
    [["--pid=host"]],
    [["--pid", "ns:/proc/1/ns/pid"]],
    [["--cgroupns=host"]],
    [["-v", "/:/host"]],
    [["-v/:/host"]],
    [["-v=/:/host"]],
    [["-v", "/./:/h"]],
    [["-v", "/../:/h"]],
    [["-v", "//:/h"]],
    [["-v", "/home/../:/h"]],
    [["-v", "../..:/h"]],
    [["-itv", "/:/h"]],
    [["-itv/etc:/h"]],
    [["-v", "/etc:/h"]],
    [["-v", "/etc/shadow:/h:ro"]],
    [["-v", "/root/.ssh:/h"]],
    [["-v", "/proc:/h"]],
    [["-v", "/var/lib/docker:/h"]],
    [["--volume=/:/host:ro"]],
    [["--mount", "type=bind,source=/,target=/host"]],
    [["--mount", "type=bind,source=/.,target=/h"]],
    [["--mount=type=bind,src=/etc,dst=/h"]],
    [["--mount", '"type=bind","SOURCE=/","target=/h"']],
    [["--mount", "type=volume,dst=/h,volume-opt=type=none,volume-opt=o=bind,volume-opt=device=/"]],
    [["-v", "/var/run/docker.sock:/var/run/docker.sock"]],
    [["--mount", "type=bind,source=/tmp/podman.sock,target=/s"]],
    [["--use-api-socket"]],
    [["--cap-add=SYS_ADMIN"]],
    [["--device", "/dev/sda"]],
    [["--device-cgroup-rule", "a *:* rwm"]],
    [["--volumes-from", "other"]],
    [["--security-opt", "apparmor=unconfined"]],
    [["--security-opt=seccomp:unconfined"]],
    [["--security-opt", "label=disable"]],
    [["--security-opt", "systempaths=unconfined"]],
    // This switch of podman takes no value, so the next option counts.
    [["--env-host", "--privileged"]],
    // The value of an option is not the image.
    [["-e", "image", "--privileged"]],
  ])("T08 docker run %j is a risk", (args) => {
    expect(docker(...args)).toHaveLength(1);
  });

  it.each([
    ["nerdctl", ["run", "--privileged", "i"]],
    ["nerdctl", ["--namespace", "k8s.io", "run", "-v", "/:/h", "i"]],
    ["podman", ["container", "run", "--privileged", "i"]],
    ["podman", ["run", "--rootfs", "/"]],
    ["podman", ["--hooks-dir=/tmp/h", "run", "i"]],
    ["docker", ["create", "--privileged", "i"]],
    ["docker", ["--context", "run", "run", "--privileged", "i"]],
    ["docker", ["-D", "-H", "tcp://x", "run", "--privileged", "i"]],
    ["C:\\bin\\docker.exe", ["run", "--privileged", "i"]],
    ["npx", ["-c", "touch M"]],
    ["npx", ["-y", "--call=touch M"]],
    ["npx", ["--call", "touch M"]],
    ["npx", ["--cal", "touch M"]],
    ["npx", ["-yc", "touch M"]],
    ["npx", ["-p", "x", "-c", "touch M"]],
    ["npx", ["--registry", "http://x", "-c", "touch M"]],
    ["npx", ["--node-options=--require=/x", "x"]],
    ["npx", ["--script-shell", "/x", "x"]],
    ["/usr/bin/npx", ["-c", "touch M"]],
    ["npm", ["exec", "-c", "touch M"]],
  ])("T08 %s %j is a risk", (command, args) => {
    expect(findRisks(normalizeServer("x", { command, args }))).toHaveLength(1);
  });

  it.each([
    ["docker", ["run", "-i", "--rm", "i"]],
    ["docker", ["run", "--network=none", "--read-only", "--cap-drop=ALL", "i"]],
    ["docker", ["run", "--privileged=false", "--use-api-socket=0", "i"]],
    ["docker", ["run", "-v", "/home/me/project:/work", "-v", "data:/data", "-v", "./x:/x", "i"]],
    ["docker", ["run", "-v", "/etc/localtime:/etc/localtime:ro", "i"]],
    ["docker", ["run", "--mount", "type=bind,source=/home/me,target=/work", "i"]],
    ["docker", ["run", "--security-opt", "no-new-privileges", "i"]],
    // Arguments after the image belong to the container.
    ["docker", ["run", "i", "--privileged", "-v", "/:/h"]],
    ["docker", ["ps"]],
    ["x", ["--privileged"]],
    ["npx", ["-y", "@acme/x", "-c", "config.json"]],
    ["npx", ["-p", "@acme/x", "prog", "--call", "x"]],
    ["npx", ["--", "x", "-c"]],
  ])("T08 %s %j is no risk", (command, args) => {
    expect(findRisks(normalizeServer("x", { command, args }))).toEqual([]);
  });

  it.each([
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "npm_config_call",
    "DYLD_X",
    "NODE_OPTIONS",
    "PYTHONSTARTUP",
    "BASH_ENV",
    "GIT_SSH_COMMAND",
  ])("T52 the variable %s is a risk", (name) => {
    expect(findRisks(normalizeServer("x", { command: "x", env: { [name]: "v", API_KEY: "k" } }))).toEqual([
      { field: `env.${name}`, reason: `the variable ${name} can make a program run other code` },
    ]);
  });
});
