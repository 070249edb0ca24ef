// `plugboard backup`: what other clients' files said before the hub changed them, and back to it.

import type { GlobalOptions } from "./io.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";
import { placesOf } from "./record.ts";

export const backupCommand: Register = (program, { io, done }) => {
  const backup = program.command("backup").description("other clients' files before install changed them: ls, restore");
  backup
    .command("ls")
    .alias("list")
    .description("list the backups, the newest of each client first")
    .action(async (options: GlobalOptions) => {
      const [{ CLIENTS }, { Backups }] = await Promise.all([
        import("../clients/table.ts"),
        import("../clients/backups.ts"),
      ]);
      const out = new Output(io, options);
      const backups = new Backups(placesOf(io, options).data);
      const all = (await Promise.all(CLIENTS.map(({ id }) => backups.list(id)))).flat();
      if (out.json)
        out.data(
          all.map(({ client, when, path, text }) => ({ client, when, file: path, existed: text !== undefined })),
        );
      else if (all.length === 0) out.note("There are no backups: plugboard install makes them");
      else {
        const rows = all.map(({ client, when, path, text }) => [
          client,
          when,
          path,
          text === undefined ? "was not there" : "",
        ]);
        out.table([["CLIENT", "WHEN", "FILE", ""], ...rows]);
      }
      done(0);
    });
  backup
    .command("restore")
    .description("put a client's file back as it was; what it is now is kept as a backup, too")
    .argument("<client>")
    .argument("[when]", "as plugboard backup ls shows it, or its beginning (default: the newest)")
    .action(async (id: string, when: string | undefined, options: GlobalOptions) => {
      const [{ clientsNamed }, { Backups }, { restoreBackup }] = await Promise.all([
        import("../clients/table.ts"),
        import("../clients/backups.ts"),
        import("../clients/change.ts"),
      ]);
      const out = new Output(io, options);
      const backups = new Backups(placesOf(io, options).data);
      for (const client of clientsNamed([id])) {
        const found = await backups.find(id, when);
        const kept = await restoreBackup({ client, scope: "user", path: found.path }, found, backups);
        const data = { client: id, file: found.path, when: found.when, backup: kept.when };
        out.changed(`Put ${found.path} back as it was at ${found.when}`, data);
      }
      done(0);
    });
};
