// `plugboard uninstall`: the hub out of the config files of other clients again.

import type { GlobalOptions } from "./io.ts";
import { changeAll, fileOf } from "./install.ts";
import type { Register } from "./program.ts";
import { placesOf } from "./record.ts";
import { findHub } from "./find-hub.ts";

interface UninstallOptions extends GlobalOptions {
  readonly project?: boolean;
  readonly dryRun?: boolean;
}

export const uninstallCommand: Register = (program, { io, done }) => {
  program
    .command("uninstall")
    .description("take the hub out of the config files of other clients")
    .argument("<clients...>", "such as claude-code, cursor, vscode: see plugboard clients")
    .option("--project", "out of the file of the project in this folder")
    .option("--dry-run", "show what would be changed, and change nothing")
    .action(async (names: string[], options: UninstallOptions) => {
      const [{ clientsNamed }, { uninstallFrom }, { Backups }] = await Promise.all([
        import("../clients/table.ts"),
        import("../clients/change.ts"),
        import("../clients/backups.ts"),
      ]);
      const clients = clientsNamed(names);
      const backups = new Backups(placesOf(io, options).data);
      // Its address tells our entry from another; one that does not answer has none.
      const hub = await findHub(io, options).catch(() => undefined);
      const use = { backups, dryRun: options.dryRun === true, address: hub?.url };
      done(
        await changeAll(io, options, clients, async (client) => uninstallFrom(await fileOf(io, client, options), use)),
      );
    });
};
