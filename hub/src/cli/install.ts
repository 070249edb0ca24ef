// `plugboard install`: the hub into the config files of other clients, so that they use it. Nothing else in them changes.

import { dirname } from "node:path";
import type { Change } from "../clients/change.ts";
import type { Client } from "../clients/client.ts";
import type { ClientFile } from "../clients/file.ts";
import { HubError, toHubError } from "../errors.ts";
import { withAccess } from "./access.ts";
import { findHub } from "./find-hub.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { Output, printError } from "./output.ts";
import type { Register } from "./program.ts";
import { placesOf } from "./record.ts";
import { count } from "./text.ts";

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
    .description("put the hub into the config files of other clients")
    .argument("<clients...>", "such as claude-code, cursor, vscode: see plugboard clients")
    .option("--group <name>", "the group that they get (default: default)")
    .option("--http", "by the address of the running hub, for clients that take one")
    .option("--project", "into the file of the project in this folder")
    .option("--takeover", "remove the client's own entries of servers that the hub has; a backup is kept")
    .option("--dry-run", "show what would be changed, and change nothing")
    .action(async (clients: string[], options: InstallOptions) => done(await install(io, clients, options)));
};

async function install(io: Io, names: readonly string[], options: InstallOptions): Promise<number> {
  refuseRemote(io, options);
  const out = new Output(io, options);
  const [{ clientsNamed }, { installInto }, { toOwnEntry }, { Backups }, { exists }, own] = await Promise.all([
    import("../clients/table.ts"),
    import("../clients/change.ts"),
    import("../clients/own-entry.ts"),
    import("../clients/backups.ts"),
    import("../exists.ts"),
    import("./own-server.ts"),
  ]);
  const clients = clientsNamed(names);
  const hub = await findHub(io, options);
  const tools = await toolsOf(io, options, hub !== undefined);
  if (options.http === true && hub === undefined) {
    throw new HubError("ConnectionFailed", "No hub is running, so it has no address", { hint: "plugboard start" });
  }
  if (own.isFleeting) out.warn("this is npx's copy of plugboard, which it may remove: npm install --global plugboard");
  if ((io.env["PLUGBOARD_SECRET_KEY"] || io.env["PLUGBOARD_SECRET_KEY_FILE"]) && options.http !== true)
    out.warn(
      "clients do not have PLUGBOARD_SECRET_KEY: they need a hub that runs (plugboard start) for stored secrets",
    );
  const { group, dryRun = false } = options;
  const backups = new Backups(placesOf(io, options).data);
  const twins = await twinsOf(io, options, clients);
  return changeAll(io, options, clients, async (client) => {
    if (options.http === true && !client.http) {
      throw new HubError("InvalidConfig", `${client.name} takes no address in its file`, {
        field: "http",
        hint: `plugboard install ${client.id}, without --http`,
      });
    }
    const address = options.http === true ? hub?.url : undefined;
    const server = address === undefined ? own.ownProgram(io, options, group) : own.ownAddress(address, group);
    const file = await fileOf(io, client, options);
    if (file.scope === "user" && !(await exists(dirname(file.path))))
      out.warn(`${client.name} has no folder here yet: is it installed?`);
    const same = twins(file);
    const change = await installInto(file, toOwnEntry(server, client), {
      backups,
      dryRun,
      address: hub?.url,
      ...(options.takeover === true ? { takeOver: same } : {}),
    });
    if (options.takeover !== true && same.length > 0) {
      const [what, are] = same.length === 1 ? ["server", "is"] : ["servers", "are"];
      out.note(
        `${client.id}: its own ${what} ${same.join(", ")} ${are} in the hub, too, and will run twice: plugboard install ${client.id} --takeover removes ${same.length === 1 ? "it" : "them"} there`,
      );
    }
    if (tools !== undefined && client.toolLimit !== undefined && tools > client.toolLimit)
      out.warn(
        `${client.name} takes at most ${client.toolLimit} tools; the group has ${tools}. --group gives it fewer`,
      );
    return change;
  });
}

/** Which of a file's own servers the hub has, by the names that they have there. */
async function twinsOf(
  io: Io,
  options: InstallOptions,
  clients: readonly Client[],
): Promise<(file: ClientFile) => string[]> {
  const [{ scan }, { planFor }] = await Promise.all([import("../clients/scan.ts"), import("./importing.ts")]);
  const files = await scan({ clients, surroundings: io, folder: options.project === true ? process.cwd() : undefined });
  const { known } = await withAccess(io, options, (access) => planFor(io, access, files, { keepSecrets: false }));
  return ({ path, workspace }) =>
    known.flatMap(({ from }) => (from.file.path === path && from.file.workspace === workspace ? [from.name] : []));
}

/** Each client by itself: one that cannot be changed does not keep the others from it. */
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
  const { mainFile, projectFile } = await import("../clients/places.ts");
  const file = project === true ? projectFile(client, process.cwd()) : await mainFile(client, io);
  if (file !== undefined) return file;
  throw new HubError("InvalidConfig", `${client.name} has no file for projects`, {
    field: "project",
    hint: `plugboard install ${client.id}, without --project`,
  });
}

export function refuseRemote(io: Io, { url }: GlobalOptions): void {
  if (url === undefined && !io.env["PLUGBOARD_URL"]) return;
  throw new HubError("InvalidConfig", "Clients get the hub of this machine", {
    field: "url",
    hint: "For one elsewhere, give the client: plugboard stdio --url https://…",
  });
}

/** How many the group has, where somebody knows. An unknown group is an error. */
async function toolsOf(io: Io, options: InstallOptions, isRunning: boolean): Promise<number | undefined> {
  if (!isRunning && options.group === undefined) return undefined;
  const group = await withAccess(io, options, ({ api }) => api.getGroup(options.group ?? "default"));
  return isRunning ? group.tool_count : undefined;
}

function tell(out: Output, change: Change, isDry: boolean): void {
  const { kind, file, before, after, others, backup, removed } = change;
  const { client, path } = file;
  if (isDry) {
    const place = [...client.root, "plugboard"].join(".");
    out.print(`${client.id}  ${path}`);
    if (kind !== "added" && before !== undefined) out.print(`  ${kind === "none" ? " " : "-"} ${place}`);
    if (kind !== "none" && after !== undefined) out.print(`  + ${place} = ${JSON.stringify(after)}`);
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
  // A client that no longer has us needs nothing.
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
