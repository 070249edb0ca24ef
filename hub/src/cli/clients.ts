// `plugboard clients`: the programs that have MCP servers in files of their own, and whether this hub is among them.

import type { ScannedFile } from "../clients/scan.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";
import type { Cell } from "./table.ts";

interface Row {
  readonly client: string;
  readonly name: string;
  readonly file: string;
  readonly scope: string;
  readonly found: boolean;
  readonly servers: number;
  readonly installed: boolean;
  readonly error: string | null;
}

export const clientsCommand: Register = (program, { io, done }) => {
  program
    .command("clients")
    .description("list the clients that the hub can take servers from and be installed into")
    .action(async (options: GlobalOptions) => {
      await clients(io, options);
      done(0);
    });
};

async function clients(io: Io, options: GlobalOptions): Promise<void> {
  const [{ CLIENTS }, { scan }, { userFiles }, { isOwnEntry }, { findHub }] = await Promise.all([
    import("../clients/table.ts"),
    import("../clients/scan.ts"),
    import("../clients/places.ts"),
    import("../clients/own.ts"),
    import("./find-hub.ts"),
  ]);
  const out = new Output(io, options);
  const files = await scan({ clients: CLIENTS, surroundings: io, folder: process.cwd() });
  const hub = await findHub(io, options).catch(() => undefined);
  const toRow = ({ file, servers, error }: ScannedFile): Row => {
    const own = servers.filter(({ entry }) => isOwnEntry(entry, file.client, hub?.url)).length;
    return {
      client: file.client.id,
      name: file.client.name,
      file: file.path,
      scope: file.scope,
      found: true,
      servers: servers.length - own,
      installed: own > 0,
      error: error?.message ?? null,
    };
  };
  const rows = CLIENTS.flatMap((client): Row[] => {
    const there = files.filter(({ file }) => file.client === client).map(toRow);
    if (there.length > 0) return there;
    const file = userFiles(client, io)[0]?.path ?? "";
    const nothing = { scope: "user", found: false, servers: 0, installed: false, error: null };
    return [{ client: client.id, name: client.name, file, ...nothing }];
  });
  if (out.json) return out.data(rows);
  const cells = rows.map(({ client, servers, installed, file, found, error }): Cell[] => {
    const state = error === null ? (found ? "" : "not there") : "cannot be read";
    return [client, found && error === null ? String(servers) : "-", installed ? "yes" : "-", file, state];
  });
  out.table([["CLIENT", "SERVERS", "HUB", "FILE", ""], ...cells], { right: [1] });
  for (const { error } of rows) if (error !== null) out.warn(error);
}
