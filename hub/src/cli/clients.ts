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

interface ClientsOptions extends GlobalOptions {
  readonly all?: boolean;
}

export const clientsCommand: Register = (program, { io, done }) => {
  program
    .command("clients")
    .description("list the clients that the hub can take servers from and be installed into")
    .option("-a, --all", "also those that are not installed")
    .action(async (options: ClientsOptions) => {
      await clients(io, options);
      done(0);
    });
};

async function clients(io: Io, options: ClientsOptions): Promise<void> {
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
  const shown = options.all === true ? rows : rows.filter(({ found }) => found);
  if (shown.length > 0) {
    const cells = shown.map((row): Cell[] => [
      row.client,
      stateOf(row, out),
      row.found && row.error === null ? String(row.servers) : "-",
      row.installed ? "yes" : "-",
      out.tilde(row.file),
    ]);
    out.table([["CLIENT", "STATE", "SERVERS", "HUB", "FILE"], ...cells], { right: [2] });
  }
  const hidden = rows.length - shown.length;
  if (hidden > 0 && shown.length > 0) out.note(`${hidden} more are not installed: plugboard clients --all`);
  else if (hidden > 0)
    out.note(`None of the ${hidden} clients that the hub knows is installed: plugboard clients --all`);
  for (const { error } of rows) if (error !== null) out.warn(error);
}

function stateOf({ found, error }: Row, { color }: Output): Cell {
  if (error !== null) return { text: "cannot be read", paint: color.bad };
  return found ? { text: "installed", paint: color.good } : { text: "not there", paint: color.faint };
}
