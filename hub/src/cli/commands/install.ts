// `plugboard install`: writes the hub into the config files of other clients. Nothing else in them changes.

import type { Change } from "../../client-configs/install/change.ts";
import type { Client } from "../../client-configs/client.ts";
import type { ClientFile } from "../../client-configs/file.ts";
import { HubError, toHubError } from "../../errors.ts";
import { endpointPath } from "../../http/group-path.ts";
import { withAccess } from "../hub-access/hub-access.ts";
import { findHub } from "../hub-access/find-hub.ts";
import type { GlobalOptions, Io } from "../io.ts";
import type { InstallFacts } from "../../client-configs/install/installing.ts";
import { Output, printError } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { hubFoldersOf } from "../hub-access/run-file.ts";
import { count } from "../terminal/text.ts";

interface InstallOptions extends GlobalOptions {
  readonly group?: string;
  readonly http?: boolean;
  readonly project?: boolean;
  readonly dryRun?: boolean;
  readonly takeover?: boolean;
}

export const installCommand: Register = (program, { io, done }) => {
  program
    .command("install")
    .description("add the hub to the config files of other clients")
    .argument("<clients...>", "such as claude-code, cursor, vscode; plugboard clients lists them")
    .option("--group <name>", "the group to serve to them (default: default)")
    .option("--http", "use the HTTP address of the running hub instead of stdio")
    .option("--project", "use the project file in this folder")
    .option("--takeover", "remove the client's own entries for servers that the hub has; keeps a backup")
    .option("--dry-run", "show what would change, without changing anything")
    .action(async (clients: string[], options: InstallOptions) => done(await install(io, clients, options)));
};

async function install(io: Io, names: readonly string[], options: InstallOptions): Promise<number> {
  refuseRemote(io, options);
  const out = new Output(io, options);
  const [{ clientsNamed }, { installInto }, { toHubEntry }, { Backups }, { hubAddress, hubProgram }, installing] =
    await Promise.all([
      import("../../client-configs/client-table.ts"),
      import("../../client-configs/install/change.ts"),
      import("../../client-configs/install/hub-entry.ts"),
      import("../../client-configs/install/backups.ts"),
      import("../../client-configs/install/hub-launch.ts"),
      import("../../client-configs/install/installing.ts"),
    ]);
  const clients = clientsNamed(names);
  const hub = await findHub(io, options);
  const tools = await toolsOf(io, options, hub !== undefined);
  if (options.http === true && hub === undefined) {
    throw new HubError("ConnectionFailed", "No hub is running: --http needs its address", { hint: "plugboard start" });
  }
  const isHttp = options.http === true;
  for (const warning of installing.hubWarnings(io, { isHttp })) out.warn(warning);
  const { group, dryRun = false } = options;
  const { config, data } = hubFoldersOf(io, options);
  const backups = new Backups(data);
  const twins = await twinsOf(io, options, clients);
  return changeAll(io, options, clients, async (client) => {
    if (isHttp) installing.requireHttp(client);
    const address = isHttp ? hub?.url : undefined;
    const server =
      address === undefined
        ? hubProgram(io, { config, group, client })
        : hubAddress(address, endpointPath(group), client);
    const file = await fileOf(io, client, options);
    const same = twins(file);
    const change = await installInto(file, toHubEntry(server, client), {
      backups,
      dryRun,
      address: hub?.url,
      ...(options.takeover === true ? { takeOver: same } : {}),
    });
    if (options.takeover !== true && same.length > 0) {
      const [what, are] = same.length === 1 ? ["server", "is"] : ["servers", "are"];
      out.note(
        `${client.id}: its ${what} ${same.join(", ")} ${are} also in the hub and will run twice: plugboard install ${client.id} --takeover removes ${same.length === 1 ? "it" : "them"} there`,
      );
    }
    for (const warning of await installing.clientWarnings(file, tools)) out.warn(warning);
    return change;
  });
}

/** Names of the file's own servers that the hub has too. */
async function twinsOf(
  io: Io,
  options: InstallOptions,
  clients: readonly Client[],
): Promise<(file: ClientFile) => string[]> {
  const [{ scan }, { planFor }, { duplicatesIn }] = await Promise.all([
    import("../../client-configs/import/scan.ts"),
    import("../../client-configs/import/importing.ts"),
    import("../../client-configs/install/installing.ts"),
  ]);
  const files = await scan({ clients, context: io, folder: options.project === true ? process.cwd() : undefined });
  const { known } = await withAccess(io, options, ({ api, hub }) =>
    planFor(io, api, files, { keepSecrets: false, address: hub?.url }),
  );
  return (file) => duplicatesIn(known, file);
}

/** Clients are independent: one that cannot be changed does not stop the others. */
export async function changeAll(
  io: Io,
  options: InstallOptions,
  clients: readonly Client[],
  change: (client: Client) => Promise<Change>,
): Promise<number> {
  const out = new Output(io, options);
  const changes: Change[] = [];
  let exitCode = 0;
  for (const client of clients) {
    try {
      const done = await change(client);
      changes.push(done);
      if (!out.json) tell(out, done, options.dryRun === true);
    } catch (thrown) {
      const error = toHubError(thrown);
      printError(error, io, options);
      exitCode ||= error.meaning.exit;
    }
  }
  if (out.json) out.data({ dry_run: options.dryRun === true, changes: changes.map(shown) });
  else if (options.dryRun === true) out.note("Nothing was written (--dry-run)");
  return exitCode;
}

/** The client's own file, or the project's. */
export async function fileOf(io: Io, client: Client, { project }: InstallOptions): Promise<ClientFile> {
  const { targetFile } = await import("../../client-configs/install/installing.ts");
  return targetFile(client, io, project === true ? process.cwd() : undefined);
}

export function refuseRemote(io: Io, { url }: GlobalOptions): void {
  if (url === undefined && !io.env["PLUGBOARD_URL"]) return;
  throw new HubError("InvalidArgument", "Only the hub on this machine can be installed into clients", {
    field: "url",
    hint: "For a remote hub, configure the client with: plugboard stdio --url https://…",
  });
}

/** Number of tools of the group, if a hub is running. An unknown group is an error. */
async function toolsOf(io: Io, options: InstallOptions, isRunning: boolean): Promise<Omit<InstallFacts, "isHttp">> {
  if (!isRunning && options.group === undefined) return { tools: undefined, isSearched: false };
  const group = await withAccess(io, options, ({ api }) => api.groups.get(options.group ?? "default"));
  return { tools: isRunning ? group.tool_count : undefined, isSearched: group.is_searched };
}

function tell(out: Output, change: Change, isDry: boolean): void {
  const { kind, file, before, after, others, backup, removed } = change;
  const { client, path } = file;
  if (isDry) {
    const entryPath = [...client.root, "plugboard"].join(".");
    out.print(`${client.id}  ${path}`);
    if (kind !== "added" && before !== undefined) out.print(`  ${kind === "none" ? " " : "-"} ${entryPath}`);
    if (kind !== "none" && after !== undefined) out.print(`  + ${entryPath} = ${JSON.stringify(after)}`);
    for (const name of removed) out.print(`  - ${[...client.root, name].join(".")}`);
    out.print(`    ${count(others, "other server")} ${others === 1 ? "stays" : "stay"}`);
  } else if (kind === "none") {
    out.changed(`${after === undefined ? "Not in" : "Already in"} ${client.name}: ${path}`, change);
  } else {
    out.changed(`${DONE[kind]} ${client.name}: ${path}`, change);
    if (removed.length > 0)
      out.changed(
        `Removed ${removed.join(", ")} from ${client.name}: the hub has ${removed.length === 1 ? "it" : "them"}`,
        change,
      );
    if (after !== undefined && backup?.text !== undefined)
      out.note(
        `  ${client.id}: undo with plugboard uninstall ${client.id}, or plugboard backup restore ${client.id} ${backup.when}`,
      );
  }
  // No restart is needed after the hub was removed.
  if (kind !== "none" && after !== undefined && client.restart !== undefined)
    out.note(`  ${client.id}: then ${client.restart}`);
}

const DONE = { added: "Installed in", replaced: "Changed in", removed: "Removed from" } as const;

function shown({ file, kind, after, others, backup, removed }: Change) {
  return {
    client: file.client.id,
    file: file.path,
    change: kind,
    entry: after ?? null,
    other_servers: others,
    removed_servers: removed,
    backup: backup?.when ?? null,
    restart: (after !== undefined && kind !== "none" ? file.client.restart : undefined) ?? null,
  };
}
