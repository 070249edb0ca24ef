// `plugboard import`: copies the servers of other clients into this hub. Their files are not changed.

import { resolve } from "node:path";
import type { Client } from "../../client-configs/client.ts";
import type { Plan, PlannedServer, RefusedServer } from "../../client-configs/import/plan.ts";
import type { FoundServer, ScannedFile } from "../../client-configs/import/scan.ts";
import { HubError } from "../../errors.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import type { GlobalOptions, Io } from "../io.ts";
import type { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { rowOf } from "../input/planned-row.ts";
import { table } from "../terminal/table.ts";
import { count } from "../terminal/text.ts";

/** Shown as the file of what a command line says. */
const COMMAND_LINE = "command line";

interface ImportOptions extends GlobalOptions {
  readonly from?: string;
  readonly dryRun?: boolean;
  readonly keepSecrets?: boolean;
}

export const importCommand: Register = (program, { io }) => {
  program
    .command("import")
    .description("import servers from other clients, hubs and gateways; asks first, unless -y is given")
    .argument("[source...]", "with --from: a file, or a command line of supergateway or mcp-proxy after --")
    .option("--from <clients>", "only these clients, hubs or gateways, separated by commas (default: all)")
    .option("--dry-run", "show what would be imported, without changing anything")
    .option("--keep-secrets", "keep credentials in the entries as plain text")
    .action(async (source: readonly string[], options: ImportOptions) => {
      const files = await (source.length === 0 ? scanned(io, options) : scannedSource(source, options));
      await withAccess(io, options, (access) => importAll(io, access, files, options));
    });
};

async function scanned(io: Io, { from }: ImportOptions): Promise<ScannedFile[]> {
  const [{ IMPORTABLE, clientsNamed }, { scan }] = await Promise.all([
    import("../../client-configs/client-table.ts"),
    import("../../client-configs/import/scan.ts"),
  ]);
  const clients =
    from === undefined
      ? IMPORTABLE
      : clientsNamed(
          from.split(",").map((id) => id.trim()),
          IMPORTABLE,
        );
  const files = await scan({ clients, context: io, folder: process.cwd() });
  if (from !== undefined) requireReadable(clients, files);
  return files;
}

/** A product that was asked for must be there: nobody keeps its file elsewhere without knowing it. */
function requireReadable(clients: readonly Client[], files: readonly ScannedFile[]): void {
  for (const { id, name, product } of clients) {
    if (product === undefined) continue;
    const ofProduct = files.filter(({ file }) => file.client.id === id);
    if (ofProduct.some(({ error }) => error === undefined)) continue;
    for (const { error } of ofProduct) if (error !== undefined) throw error;
    throw new HubError("InvalidArgument", `No config of ${name} was found`, { field: "from", hint: product.hint });
  }
}

/** What the user names: a file, or a command line. */
async function scannedSource(source: readonly string[], { from = "" }: ImportOptions): Promise<ScannedFile[]> {
  const [{ IMPORTABLE, clientsNamed }, { scanFile, contentOf }, { readGatewayLine }, { exists }] = await Promise.all([
    import("../../client-configs/client-table.ts"),
    import("../../client-configs/import/scan.ts"),
    import("../../entry-input/gateway-lines.ts"),
    import("@plugboard/shared/files/exists"),
  ]);
  const [client] = from === "" || from.includes(",") ? [] : clientsNamed([from.trim()], IMPORTABLE);
  if (client === undefined) {
    throw new HubError("InvalidArgument", "A file or a command line needs --from with one client", {
      field: "from",
      hint: `plugboard import --from mcphub ${source[0] ?? "FILE"}`,
    });
  }
  const [path = ""] = source;
  const isFile = source.length === 1 && (/\.jsonc?$/i.test(path) || (await exists(resolve(path))));
  const line = isFile ? undefined : readGatewayLine(client.id, source);
  if (line === undefined) {
    if (source.length === 1) return [await scanFile(client, resolve(path))];
    throw new HubError("InvalidArgument", `${client.name} is imported from one file`, { field: "source" });
  }
  const named = line.file === undefined ? [] : [await scanFile(client, resolve(line.file))];
  if (line.data === undefined) return named;
  const said = await contentOf({ client, scope: "user", path: COMMAND_LINE, data: line.data });
  if (said.error !== undefined) throw said.error;
  return [...named, said];
}

async function importAll(io: Io, access: Access, files: readonly ScannedFile[], options: ImportOptions): Promise<void> {
  const [{ planFor, carryOut }, { askYes, canAsk }] = await Promise.all([
    import("../../client-configs/import/importing.ts"),
    import("../terminal/ask.ts"),
  ]);
  const { out } = access;
  const plan = await planFor(io, access.api, files, {
    keepSecrets: options.keepSecrets === true,
    address: access.hub?.url,
  });
  const broken = files.filter(({ error }) => error !== undefined);
  if (!out.json) for (const { error } of broken) out.warn(`skipped: ${error?.message}`);
  if (options.dryRun === true) return showPlan(access, plan, broken);
  if (plan.add.length > 0 && options.input !== false && !canAsk(io, options)) {
    throw new HubError("InvalidArgument", `Importing ${count(plan.add.length, "server")} needs a confirmation`, {
      detail: "There is no terminal to confirm on, and the hub will run each server",
      hint: "plugboard import -y",
    });
  }
  if (plan.add.length > 0 && options.input !== false) {
    const { maskArgs, hideAll } = await import("../../redaction/mask.ts");
    const rows = plan.add.map((server) => rowOf(server, (args) => maskArgs(args, hideAll)));
    io.stderr.write(table(rows, { width: io.stderr.columns || undefined }));
    if (!(await askYes(io, `Import ${count(plan.add.length, "server")}?`))) return out.note("Nothing was imported");
  }
  const { added, refused, groups, failed } = await carryOut(access.api, plan, { approves: true });
  const file = access.where("mcp_server.json");
  const all = [...plan.refused, ...refused];
  if (out.json)
    return out.data({ file, ...shown({ ...plan, add: added, refused: all }, broken), groups, failed_groups: failed });
  for (const server of added) {
    const stored = server.secrets.size === 0 ? "" : ` (${count(server.secrets.size, "secret")} stored)`;
    out.changed(`Added ${server.name} from ${server.from.file.client.id} to ${file}${stored}`, server);
    remark(out, server);
  }
  for (const { name, error } of failed) out.warn(`the group ${name} was not set: ${error.message}`);
  for (const group of groups) out.changed(`Set the group ${group} in ${access.where("group.json")}`, group);
  remarkOnProducts(out, plan);
  conclude(out, plan, { added: added.length, refused: all });
}

async function showPlan({ out, where }: Access, plan: Plan, broken: readonly ScannedFile[]): Promise<void> {
  const [{ toEntry }, { normalizeServer }, { hideAll }] = await Promise.all([
    import("../../api/server/entry/entry.ts"),
    import("../../config/parse/normalize.ts"),
    import("../../redaction/mask.ts"),
  ]);
  const hidden = (server: PlannedServer) => {
    const { id: _id, name: _name, ...entry } = toEntry(normalizeServer(server.name, server.entry), hideAll);
    return entry;
  };
  const file = where("mcp_server.json");
  if (out.json) {
    const entries = Object.fromEntries(plan.add.map((server) => [server.name, hidden(server)]));
    const groups = plan.groups.map(({ name }) => name);
    return out.data({ file, dry_run: true, ...shown(plan, broken), groups, entries });
  }
  if (plan.add.length > 0) out.print(file);
  for (const server of plan.add) {
    out.printForeign(`  + mcpServers.${server.name} = ${JSON.stringify(hidden(server))}`);
    out.print(`      from ${server.from.file.client.id}  ${server.from.file.path}`);
    for (const secret of server.secrets.keys()) out.print(`  + secret ${secret}`);
    remark(out, server);
  }
  for (const { name, entry } of plan.groups) out.printForeign(`  + group ${name} = ${JSON.stringify(entry)}`);
  remarkOnProducts(out, plan);
  conclude(out, plan, { added: plan.add.length, refused: plan.refused });
  out.note("Nothing was written (--dry-run)");
}

function conclude(
  out: Output,
  { known }: Plan,
  { added, refused }: { added: number; refused: readonly RefusedServer[] },
): void {
  for (const { from, error } of refused) {
    const where = error.field === undefined ? "" : ` (${error.field})`;
    out.warn(`not imported: ${from.name} of ${from.file.client.id}: ${error.message}${where}`);
  }
  out.changed(`${known.length} known, ${added} new`, undefined);
}

function remark(out: Output, { name, notes, missing }: PlannedServer): void {
  for (const note of notes) out.note(`note: ${name}: ${note}`);
  for (const secret of missing) out.warn(`${name} needs the secret ${secret}: plugboard secret set ${secret}`);
}

function remarkOnProducts(out: Output, { notes }: Plan): void {
  for (const { client, text } of notes) out.note(`note: ${client}: ${text}`);
}

function shown(plan: Pick<Plan, "add" | "known" | "refused" | "skipped" | "notes">, broken: readonly ScannedFile[]) {
  return {
    added: plan.add.map(({ name, from, secrets, missing, notes, entry }) => ({
      name,
      ...origin(from),
      enabled: entry["enabled"] !== false,
      secrets: [...secrets.keys()],
      missing_secrets: missing,
      notes,
    })),
    known: plan.known.map(({ name, from }) => ({ name, ...origin(from) })),
    skipped: plan.skipped.map(origin),
    notes: plan.notes,
    refused: plan.refused.map(({ from, error }) => ({ ...origin(from), error })),
    broken: broken.map(({ file, error }) => ({ client: file.client.id, file: file.path, error })),
  };
}

function origin({ name, file }: FoundServer) {
  return { client: file.client.id, client_file: file.path, scope: file.scope, original_name: name };
}
