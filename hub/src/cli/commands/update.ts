// `plugboard update`: updates the npm packages of servers. Packages change only when asked.

import type { PackageUpdate, Server } from "../../api/schemas/server.ts";
import { toHubError, type ErrorBody } from "../../errors.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import type { GlobalOptions, Io } from "../io.ts";
import type { Register } from "../command.ts";
import { waiting } from "../terminal/spinner.ts";

const FAILED = 1;

export const updateCommand: Register = (program, { io, done }) => {
  program
    .command("update")
    .description("install the newest allowed version of a server's npm package, and restart it")
    .argument("[server]", "a server (default: all whose package the hub has installed)")
    .action(async (server: string | undefined, options: GlobalOptions) => {
      done(await withAccess(io, options, (access) => update(io, access, server)));
    });
};

async function update(io: Io, access: Access, name: string | undefined): Promise<number> {
  const { api } = access;
  if (name !== undefined) {
    const server = await api.servers.get(name);
    tell(access, server, await updateOne(io, access, server));
    return 0;
  }
  const servers = (await api.servers.list()).filter((server) => server.package?.source === "managed");
  if (servers.length === 0) access.out.note("The hub has installed no packages");
  const results: { readonly server: string; readonly update?: PackageUpdate; readonly error?: ErrorBody }[] = [];
  // One at a time: servers may share a package, and an install can use the whole machine.
  for (const server of servers) {
    try {
      const done = await updateOne(io, access, server);
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

function updateOne(io: Io, { api, out }: Access, { config }: Server): Promise<PackageUpdate> {
  return waiting(io, out, `updating ${config.name}`, api.servers.updatePackage(config.id));
}

function tell({ out }: Access, { config }: Server, done: PackageUpdate): void {
  const { changed, from, to, restarted } = done;
  const where = restarted.length === 0 ? "" : `, restarted ${restarted.join(", ")}`;
  const what = changed
    ? `Updated ${config.name} ${from === null ? `to ${to}` : `from ${from} to ${to}`}${where}`
    : `${config.name} is at ${to}`;
  out.changed(what, done);
}
