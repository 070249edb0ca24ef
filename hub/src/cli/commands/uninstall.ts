// `plugboard uninstall`: removes the hub from the config files of other clients.

import type { GlobalOptions } from "../io.ts";
import { changeAll, fileOf } from "./install.ts";
import type { Register } from "../command.ts";
import { hubFoldersOf } from "../hub-access/run-file.ts";
import { findHub } from "../hub-access/find-hub.ts";

interface UninstallOptions extends GlobalOptions {
  readonly project?: boolean;
  readonly dryRun?: boolean;
}

export const uninstallCommand: Register = (program, { io, done }) => {
  program
    .command("uninstall")
    .description("remove the hub from the config files of other clients")
    .argument("<clients...>", "such as claude-code, cursor, vscode; plugboard clients lists them")
    .option("--project", "use the project file in this folder")
    .option("--dry-run", "show what would change, without changing anything")
    .action(async (names: string[], options: UninstallOptions) => {
      const [{ clientsNamed }, { uninstallFrom }, { Backups }] = await Promise.all([
        import("../../client-configs/client-table.ts"),
        import("../../client-configs/install/change.ts"),
        import("../../client-configs/install/backups.ts"),
      ]);
      const clients = clientsNamed(names);
      const backups = new Backups(hubFoldersOf(io, options).data);
      // The address identifies our entry. Without a running hub there is no address.
      const hub = await findHub(io, options).catch(() => undefined);
      const use = { backups, dryRun: options.dryRun === true, address: hub?.url };
      done(
        await changeAll(io, options, clients, async (client) => uninstallFrom(await fileOf(io, client, options), use)),
      );
    });
};
