// `plugboard service`: the hub as a service of the user, which the system starts at boot and when it fails.

import { resolve } from "node:path";
import { HubError } from "../../errors.ts";
import { packagePath } from "../../lib/package-path.ts";
import type { Register } from "../command.ts";
import { findLocalHub } from "../hub-access/find-hub.ts";
import { hubFoldersOf } from "../hub-access/run-file.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { Launchd } from "../service/launchd.ts";
import { Service, type ServiceManager, type ServiceProgram } from "../service/service.ts";
import { Systemd } from "../service/systemd.ts";
import { Output } from "../terminal/output.ts";

/** Variables that change what the hub does, or that it needs to find and install servers. No secrets: the file is readable. */
const PASSED_ON =
  /^(?:PATH|LANG|TZ|PLUGBOARD_HOME|XDG_(?:CONFIG|DATA|STATE|CACHE)_HOME|NODE_EXTRA_CA_CERTS|NO_PROXY|no_proxy|DOCKER_HOST)$/;

export const serviceCommand: Register = (program, { io }) => {
  const service = program
    .command("service")
    .description("run the hub as a service, which survives a reboot: install, uninstall, status");
  service
    .command("install")
    .description("start the hub now and at every boot (systemd) or login (macOS)")
    .action(async (options: GlobalOptions) => {
      const out = new Output(io, options);
      const manager = managerOf(io);
      const installing = new Service(manager, io);
      await refuseOtherHub(io, options, installing);
      const { changed, warnings } = await installing.install(programOf(io, options));
      for (const warning of warnings) out.warn(warning);
      const text = changed
        ? `Installed and started the service: ${manager.file}`
        : "The service is installed, and runs";
      out.changed(text, { ...(await installing.state()), changed });
    });
  service
    .command("uninstall")
    .description("stop the service and remove it; config and data stay")
    .action(async (options: GlobalOptions) => {
      const manager = managerOf(io);
      const removed = await new Service(manager, io).uninstall();
      const text = removed ? `Stopped and removed the service: ${manager.file}` : "The service is not installed";
      new Output(io, options).changed(text, { removed, file: manager.file });
    });
  service
    .command("status")
    .description("show whether the service is installed and runs")
    .action(async (options: GlobalOptions) => {
      const out = new Output(io, options);
      const state = await new Service(managerOf(io), io).state();
      if (out.json) return out.data(state);
      if (!state.installed) return out.print("Not installed. To install it: plugboard service install");
      out.print(
        `${state.active ? "running" : "stopped"}, ${state.enabled ? "starts by itself" : "does not start by itself"}`,
      );
      out.print(out.tilde(`${state.manager}  ${state.file}`));
      if (!state.active)
        out.note(`Its log: ${state.manager === "systemd" ? "journalctl --user -u plugboard" : "plugboard logs"}`);
    });
};

function managerOf(io: Io): ServiceManager {
  if (io.platform === "linux") return new Systemd(io);
  if (io.platform === "darwin") return new Launchd({ home: io.home, uid: process.getuid?.() ?? 0 });
  throw new HubError("InvalidArgument", `There is no service for ${io.platform} yet`, {
    hint: "On Windows, let the Task Scheduler run `plugboard up` at log on",
  });
}

function programOf(io: Io, options: GlobalOptions): ServiceProgram {
  const main = packagePath("bin/plugboard.js");
  if (/[\\/]_npx[\\/]/.test(main)) {
    throw new HubError("InvalidArgument", "This plugboard is in the cache of npx, which may be emptied at any time", {
      hint: "npm install -g plugboard && plugboard service install",
    });
  }
  const folders = hubFoldersOf(io, options);
  const passed = Object.entries(io.env).flatMap(([name, value]) =>
    PASSED_ON.test(name) && value !== undefined && value !== "" ? [[name, value] as const] : [],
  );
  const home = io.env["PLUGBOARD_HOME"] ?? "";
  const moved = options.config !== undefined || (io.env["PLUGBOARD_CONFIG"] ?? "") !== "";
  return {
    command: [process.execPath, main, "up"],
    variables: {
      ...Object.fromEntries(passed),
      ...(home === "" ? {} : { PLUGBOARD_HOME: resolve(home) }),
      ...(moved ? { PLUGBOARD_CONFIG: folders.config } : {}),
    },
    log: folders.log,
  };
}

/** The service could not use the same port and files. */
async function refuseOtherHub(io: Io, options: GlobalOptions, service: Service): Promise<void> {
  const running = await findLocalHub(io, options);
  if (running === undefined || (await service.state()).active) return;
  throw new HubError("Conflict", `A hub is already running (pid ${running.record.pid})`, {
    hint: "plugboard stop && plugboard service install",
  });
}
