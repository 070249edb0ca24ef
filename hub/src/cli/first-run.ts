// The first `plugboard up`, with no config at all: says which servers other clients have, and takes them over if the user
// says yes. Only the user's own files are looked at: what came with a project is for `plugboard import`.

import { CLIENTS } from "../clients/table.ts";
import type { Plan } from "../clients/plan.ts";
import type { Hub } from "../hub.ts";
import { scan } from "../clients/scan.ts";
import { askYes, canAsk } from "./ask.ts";
import { carryOut, planAnew, planFor } from "./importing.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { LocalAccess } from "./local-access.ts";
import { Output } from "./output.ts";
import { placesOf } from "./record.ts";
import { table } from "./table.ts";
import { count } from "./text.ts";

/** On one line; more are counted. */
const NAMES_MAX = 12;

/** Into the hub that is about to run. */
export async function offerImport(io: Io, options: GlobalOptions, hub: Hub): Promise<void> {
  const out = new Output(io, options);
  const files = await scan({ clients: CLIENTS, surroundings: io, folder: undefined });
  const plan = planAnew(io, files, { keepSecrets: false });
  const rows = rowsOf(plan);
  if (plan.add.length === 0) return;
  const found = plan.add.length + plan.known.length;
  const text = `Found ${count(found, "MCP server")} in ${count(rows.length, "client")}`;
  if (!canAsk(io, options)) return out.note(`${text}: plugboard import takes them over`);
  io.stderr.write(`${text}\n${table(rows, { right: [1], width: io.stderr.columns || undefined })}`);
  if (!(await askYes(io, "Import them and keep the clients' files unchanged?"))) return;
  const access = new LocalAccess(io, { hub, out, places: placesOf(io, options), timeoutMs: undefined });
  const { added, refused } = await carryOut(access, await planFor(io, access, files, { keepSecrets: false }));
  out.note(out.tilde(`Imported ${count(added.length, "server")} to ${access.where("mcp_server.json")}`));
  for (const { from, error } of [...plan.refused, ...refused])
    out.warn(`not imported: ${from.name} of ${from.file.client.id}: ${error.message}`);
  for (const { name, missing } of added)
    for (const secret of missing) out.warn(`${name} needs the secret ${secret}: plugboard secret set ${secret}`);
}

/** A line for each client; `=` marks what another one has, too. */
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
