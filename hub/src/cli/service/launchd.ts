// The hub as a launch agent of macOS.

import { posix } from "node:path";
import { MARK, type Run, type ServiceManager, type ServiceProgram } from "./service.ts";

const LABEL = "plugboard.hub";

export class Launchd implements ServiceManager {
  readonly name = "launchd";
  readonly file: string;
  /** The user's graphical session. */
  readonly #domain: string;

  constructor({ home, uid }: { readonly home: string; readonly uid: number }) {
    this.file = posix.join(home, "Library/LaunchAgents", `${LABEL}.plist`);
    this.#domain = `gui/${uid}`;
  }

  render({ command, variables, log }: ServiceProgram): string {
    const entries = Object.entries(variables).map(
      ([name, value]) => `      <key>${escaped(name)}</key>\n      <string>${escaped(value)}</string>`,
    );
    return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${MARK}; to remove it: plugboard service uninstall -->
<plist version="1.0">
  <dict>
    <key>Label</key>
    <string>${LABEL}</string>
    <key>ProgramArguments</key>
    <array>
${command.map((word) => `      <string>${escaped(word)}</string>`).join("\n")}
    </array>
    <key>EnvironmentVariables</key>
    <dict>
${entries.join("\n")}
    </dict>
    <key>RunAtLoad</key>
    <true/>
    <key>KeepAlive</key>
    <dict>
      <key>SuccessfulExit</key>
      <false/>
    </dict>
    <key>ExitTimeOut</key>
    <integer>60</integer>
    <key>StandardOutPath</key>
    <string>${escaped(log)}</string>
    <key>StandardErrorPath</key>
    <string>${escaped(log)}</string>
  </dict>
</plist>
`;
  }

  async enable(run: Run): Promise<readonly string[]> {
    await run("launchctl", "enable", `${this.#domain}/${LABEL}`);
    // Bootstrapping what is loaded is an error.
    if (!(await this.isActive(run))) await run("launchctl", "bootstrap", this.#domain, this.file);
    return [];
  }

  async disable(run: Run): Promise<void> {
    if (await this.isActive(run)) await run("launchctl", "bootout", `${this.#domain}/${LABEL}`);
  }

  removed(): Promise<void> {
    return Promise.resolve();
  }

  /** Agents of the folder are loaded at login. */
  isEnabled(): Promise<boolean> {
    return Promise.resolve(true);
  }

  isActive(run: Run): Promise<boolean> {
    return run("launchctl", "print", `${this.#domain}/${LABEL}`).then(
      () => true,
      () => false,
    );
  }
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
