// `plugboard update`: updates the npm packages of servers. Packages change only when asked.

import type { PackageUpdate, Server, UpdatePreview } from "../../api/schemas/server.ts";
import { HubError, toHubError, type ErrorBody } from "../../errors.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import type { GlobalOptions, Io } from "../io.ts";
import type { Register } from "../command.ts";
import { waiting } from "../terminal/spinner.ts";

const FAILED = 1;

interface UpdateOptions extends GlobalOptions {
  readonly dryRun?: boolean;
  readonly rollback?: boolean;
}

type Action = "update" | "preview" | "rollback";

export const updateCommand: Register = (program, { io, done }) => {
  program
    .command("update")
    .description("install the newest allowed version of a server's npm package, and restart it")
    .argument("[server]", "a server (default: all whose package the hub has installed)")
    .option("--dry-run", "show what the new version would change in the tools, and leave everything as it is")
    .option("--rollback", "go back to the version before the last update")
    .action(async (server: string | undefined, { dryRun, rollback, ...options }: UpdateOptions) => {
      if (dryRun === true && rollback === true) {
        throw new HubError("InvalidArgument", "--dry-run and --rollback exclude each other");
      }
      if (rollback === true && server === undefined) {
        throw new HubError("InvalidArgument", "Name the server to roll back", { hint: "plugboard ls" });
      }
      const action = dryRun === true ? "preview" : rollback === true ? "rollback" : "update";
      done(await withAccess(io, options, (access) => update(io, access, { name: server, action })));
    });
};

async function update(
  io: Io,
  access: Access,
  { name, action }: { readonly name: string | undefined; readonly action: Action },
): Promise<number> {
  const { api } = access;
  if (name !== undefined) {
    const server = await api.servers.get(name);
    // The tools of before are known when it has started.
    if (action === "preview") await access.ready(server.config.id);
    tell(access, server, await act(io, access, { server, action }));
    return 0;
  }
  const servers = (await api.servers.list()).filter((server) => server.package?.source === "managed");
  if (servers.length === 0) access.out.note("The hub has installed no packages");
  const results: { readonly server: string; readonly update?: Done; readonly error?: ErrorBody }[] = [];
  // One at a time: servers may share a package, and an install can use the whole machine.
  for (const server of servers) {
    try {
      const done = await act(io, access, { server, action });
      results.push({ server: server.config.name, update: done });
      if (!access.out.json) tell(access, server, done);
    } catch (thrown) {
      const error = toHubError(thrown).toJSON();
      results.push({ server: server.config.name, error });
      access.out.warn(`${server.config.name}: ${error.message}`);
    }
  }
  if (access.out.json) access.out.data(results);
  return results.some(({ error }) => error !== undefined) ? FAILED : 0;
}

type Done = PackageUpdate | UpdatePreview;

function act(
  io: Io,
  { api, out }: Access,
  { server: { config }, action }: { readonly server: Server; readonly action: Action },
): Promise<Done> {
  switch (action) {
    case "update":
      return waiting(io, out, `updating ${config.name}`, api.servers.updatePackage(config.id));
    case "preview":
      return waiting(io, out, `trying an update of ${config.name}`, api.servers.previewUpdate(config.id));
    case "rollback":
      return waiting(io, out, `rolling back ${config.name}`, api.servers.rollBackPackage(config.id));
  }
}

function tell({ out }: Access, { config }: Server, done: Done): void {
  const { changed, from, to } = done;
  const versions = from === null ? `to ${to}` : `from ${from} to ${to}`;
  if (!changed) return out.changed(`${config.name} is at ${to}`, done);
  if ("diff" in done) {
    const what = done.diff.length === 0 ? "its tools stay the same" : "its tools change";
    out.changed(`An update would bring ${config.name} ${versions}: ${what}`, done);
    if (!out.json) for (const line of done.diff) out.print(line);
    return;
  }
  const where = done.restarted.length === 0 ? "" : `, restarted ${done.restarted.join(", ")}`;
  out.changed(`Updated ${config.name} ${versions}${where}`, done);
}
