// `plugboard clients`: lists the MCP clients on this machine and whether they use this hub.

import type { ScannedFile } from "../../client-configs/import/scan.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import type { Cell } from "../terminal/table.ts";

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

export const clientsCommand: Register = (program, { io }) => {
  program
    .command("clients")
    .description("list MCP clients that plugboard can import from and install into")
    .option("-a, --all", "include clients that are not installed")
    .action(async (options: ClientsOptions) => {
      await clients(io, options);
    });
};

async function clients(io: Io, options: ClientsOptions): Promise<void> {
  const [{ CLIENTS }, { scan }, { userFiles }, { summarize }, { findHub }] = await Promise.all([
    import("../../client-configs/client-table.ts"),
    import("../../client-configs/import/scan.ts"),
    import("../../client-configs/config-paths.ts"),
    import("../../client-configs/client-files.ts"),
    import("../hub-access/find-hub.ts"),
  ]);
  const out = new Output(io, options);
  const files = await scan({ clients: CLIENTS, context: io, folder: process.cwd() });
  const hub = await findHub(io, options).catch(() => undefined);
  const toRow = ({ file, servers, error }: ScannedFile): Row => {
    const summary = summarize({ file, servers }, hub?.url);
    return {
      client: file.client.id,
      name: file.client.name,
      file: file.path,
      scope: file.scope,
      found: true,
      servers: summary.others,
      installed: summary.hub !== undefined,
      error: error?.message ?? null,
    };
  };
  const rows = CLIENTS.flatMap((client): Row[] => {
    const clientRows = files.filter(({ file }) => file.client === client).map(toRow);
    if (clientRows.length > 0) return clientRows;
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
  else if (hidden > 0) out.note(`No known client is installed. All ${hidden}: plugboard clients --all`);
  for (const { error } of rows) if (error !== null) out.warn(error);
}

function stateOf({ found, error }: Row, { color }: Output): Cell {
  if (error !== null) return { text: "unreadable", paint: color.bad };
  return found ? { text: "installed", paint: color.good } : { text: "not there", paint: color.faint };
}
