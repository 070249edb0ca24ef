// `plugboard backup`: lists and restores the files of other clients as they were before the hub changed them.

import type { GlobalOptions } from "../io.ts";
import { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { hubFoldersOf } from "../hub-access/run-file.ts";

export const backupCommand: Register = (program, { io }) => {
  const backup = program.command("backup").description("manage backups of other clients' files: ls, restore");
  backup
    .command("ls")
    .alias("list")
    .description("list the backups, the newest of each client first")
    .action(async (options: GlobalOptions) => {
      const [{ CLIENTS }, { Backups }] = await Promise.all([
        import("../../client-configs/client-table.ts"),
        import("../../client-configs/install/backups.ts"),
      ]);
      const out = new Output(io, options);
      const backups = new Backups(hubFoldersOf(io, options).data);
      const all = (await Promise.all(CLIENTS.map(({ id }) => backups.list(id)))).flat();
      if (out.json)
        out.data(
          all.map(({ client, when, path, text }) => ({ client, when, file: path, existed: text !== undefined })),
        );
      else if (all.length === 0) out.note("No backups. plugboard install makes them");
      else {
        const rows = all.map(({ client, when, path, text }) => [
          client,
          when,
          path,
          text === undefined ? "did not exist" : "",
        ]);
        out.table([["CLIENT", "WHEN", "FILE", ""], ...rows]);
      }
    });
  backup
    .command("restore")
    .description("restore a client's file; the current one is backed up first")
    .argument("<client>", "id of the client, such as cursor")
    .argument("[when]", "time of the backup, or its beginning (default: the newest)")
    .action(async (id: string, when: string | undefined, options: GlobalOptions) => {
      const [{ clientsNamed }, { Backups }, { restoreBackup }] = await Promise.all([
        import("../../client-configs/client-table.ts"),
        import("../../client-configs/install/backups.ts"),
        import("../../client-configs/install/change.ts"),
      ]);
      const out = new Output(io, options);
      const backups = new Backups(hubFoldersOf(io, options).data);
      for (const client of clientsNamed([id])) {
        const found = await backups.find(id, when);
        const kept = await restoreBackup({ client, scope: "user", path: found.path }, found, backups);
        const data = { client: id, file: found.path, when: found.when, backup: kept.when };
        out.changed(`Restored ${found.path} from ${found.when}`, data);
      }
    });
};
