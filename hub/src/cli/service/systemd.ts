// The hub as a user unit of systemd.

import { posix } from "node:path";
import { xdgFolder, type PlatformContext } from "../../config/files/system-folders.ts";
import { MARK, type Run, type ServiceManager, type ServiceProgram } from "./service.ts";

const UNIT = "plugboard.service";

export class Systemd implements ServiceManager {
  readonly name = "systemd";
  readonly file: string;

  constructor(context: PlatformContext) {
    this.file = posix.join(xdgFolder(context, "XDG_CONFIG_HOME", ".config"), "systemd/user", UNIT);
  }

  render({ command, variables }: ServiceProgram): string {
    const environment = Object.entries(variables).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`);
    return [
      `# ${MARK}; to remove it: plugboard service uninstall`,
      "[Unit]",
      "Description=Plugboard, the hub of MCP servers",
      "After=network-online.target",
      "",
      "[Service]",
      // $ begins a variable of systemd in a command, but not in Environment.
      `ExecStart=${command.map((word) => quoted(word).replaceAll("$", "$$$$")).join(" ")}`,
      ...environment,
      "Restart=on-failure",
      "RestartSec=5",
      // The hub ends its servers by itself. What it leaves after that is killed.
      "KillMode=mixed",
      "TimeoutStopSec=60",
      "",
      "[Install]",
      "WantedBy=default.target",
      "",
    ].join("\n");
  }

  async enable(run: Run): Promise<readonly string[]> {
    await run("systemctl", "--user", "daemon-reload");
    await run("systemctl", "--user", "enable", "--now", UNIT);
    try {
      await run("loginctl", "enable-linger");
      return [];
    } catch {
      return ["The hub runs only while you are logged in. To start it at boot: sudo loginctl enable-linger $USER"];
    }
  }

  /** Lingering stays: other services of the user may rely on it. */
  async disable(run: Run): Promise<void> {
    await run("systemctl", "--user", "disable", "--now", UNIT);
  }

  async removed(run: Run): Promise<void> {
    await run("systemctl", "--user", "daemon-reload");
  }

  isEnabled(run: Run): Promise<boolean> {
    return answersYes(run("systemctl", "--user", "is-enabled", UNIT));
  }

  isActive(run: Run): Promise<boolean> {
    return answersYes(run("systemctl", "--user", "is-active", UNIT));
  }
}

/** No is an exit code. */
function answersYes(answer: Promise<string>): Promise<boolean> {
  return answer.then(
    () => true,
    () => false,
  );
}

/** A word of a unit file: % begins a specifier there. */
function quoted(word: string): string {
  const escaped = word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("%", "%%");
  return /^[\w@%+=:,./-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}
