// At the first `plugboard up`, without any config, offers to import the servers of other clients. Looks at the user's own files
// only; project files are for `plugboard import`.

import { CLIENTS } from "../../client-configs/client-table.ts";
import type { Plan } from "../../client-configs/import/plan.ts";
import type { Hub } from "../../hub/hub.ts";
import { scan } from "../../client-configs/import/scan.ts";
import { askYes, canAsk } from "../terminal/ask.ts";
import { carryOut, planAnew, planFor } from "../../client-configs/import/importing.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { LocalAccess } from "../hub-access/local-access.ts";
import { Output } from "../terminal/output.ts";
import { hubFoldersOf } from "../hub-access/run-file.ts";
import { hideAll, maskArgs } from "../../redaction/mask.ts";
import { rowOf } from "./planned-row.ts";
import { table } from "../terminal/table.ts";
import { count } from "../terminal/text.ts";

/** Names per line; the rest is counted. */
const NAMES_MAX = 12;

/** Imports into the hub that is about to run. */
export async function offerImport(io: Io, options: GlobalOptions, hub: Hub): Promise<void> {
  const out = new Output(io, options);
  const files = await scan({ clients: CLIENTS, context: io, folder: undefined });
  const plan = planAnew(io, files, { keepSecrets: false });
  const rows = rowsOf(plan);
  if (plan.add.length === 0) return;
  const found = plan.add.length + plan.known.length;
  const text = `Found ${count(found, "MCP server")} in ${count(rows.length, "client")}`;
  if (!canAsk(io, options)) return out.note(`${text}: plugboard import`);
  io.stderr.write(`${text}\n${table(rows, { right: [1], width: io.stderr.columns || undefined })}`);
  // The hub runs what is imported: a person sees it first.
  const planned = plan.add.map((server) => rowOf(server, (args) => maskArgs(args, hideAll)));
  io.stderr.write(table(planned, { width: io.stderr.columns || undefined }));
  if (!(await askYes(io, "Import them and keep the clients' files unchanged?"))) return;
  const access = new LocalAccess(io, { hub, out, folders: hubFoldersOf(io, options), timeoutMs: undefined });
  const { added, refused } = await carryOut(access.api, await planFor(io, access.api, files, { keepSecrets: false }), {
    approves: true,
  });
  out.note(out.tilde(`Imported ${count(added.length, "server")} to ${access.where("mcp_server.json")}`));
  for (const { from, error } of [...plan.refused, ...refused])
    out.warn(`not imported: ${from.name} of ${from.file.client.id}: ${error.message}`);
  for (const { name, missing } of added)
    for (const secret of missing) out.warn(`${name} needs the secret ${secret}: plugboard secret set ${secret}`);
}

/** One row per client; `=` marks servers that an earlier client has too. */
function rowsOf({ add, known }: Plan): string[][] {
  const names = new Map<string, string[]>();
  const put = (client: string, name: string) => names.set(client, [...(names.get(client) ?? []), name]);
  for (const { from, name } of add) put(from.file.client.id, name);
  for (const { from, name } of known) put(from.file.client.id, `${name}=`);
  const rows = CLIENTS.flatMap(({ id }) => {
    const all = names.get(id);
    if (all === undefined) return [];
    const more = all.length > NAMES_MAX ? `  and ${all.length - NAMES_MAX} more` : "";
    return [[`  ${id}`, String(all.length), all.slice(0, NAMES_MAX).join("  ") + more]];
  });
  if (known.length > 0) rows[0]?.push("(= already seen)");
  return rows;
}
