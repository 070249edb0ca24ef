// `plugboard rm`: removes a server from the config and stops it. Its secrets stay unless --with-secrets is given.

import { withAccess, type Access } from "../hub-access/hub-access.ts";
import { askYes, canAsk } from "../terminal/ask.ts";
import type { GlobalOptions, Io } from "../io.ts";
import type { Register } from "../command.ts";

interface RmOptions extends GlobalOptions {
  readonly withSecrets?: boolean;
}

export const rmCommand: Register = (program, { io }) => {
  program
    .command("rm")
    .alias("remove")
    .description("remove a server; asks first on a terminal, unless -y is given")
    .argument("<server>", "name or id of the server")
    .option("--with-secrets", "also delete the secrets that only this server uses")
    .action(async (name: string, options: RmOptions) => {
      await withAccess(io, options, (access) => rm(io, access, name, options));
    });
};

async function rm(io: Io, { api, out, where }: Access, id: string, options: RmOptions): Promise<void> {
  const { config, secret_refs } = await api.servers.get(id);
  const { name } = config;
  if (canAsk(io, options) && !(await askYes(io, `Remove ${name}?`, { enter: false }))) {
    return out.note("Nothing was removed");
  }
  await api.servers.delete(config.id);
  const file = where("mcp_server.json");
  const stored = await unusedOf(api, new Set(Object.values(secret_refs)));
  const deleted = options.withSecrets === true ? stored : [];
  for (const secret of deleted) await api.secrets.delete(secret);
  const left = stored.filter((secret) => !deleted.includes(secret));
  out.changed(`Removed ${name} from ${file}`, { removed: name, file, deleted_secrets: deleted, unused_secrets: left });
  if (out.json) return;
  for (const secret of deleted) out.changed(`Deleted the secret ${secret}`, secret);
  for (const secret of left) out.note(`note: the secret ${secret} is still stored: plugboard secret rm ${secret}`);
}

/** The secrets among `refs` that no other server uses. */
async function unusedOf(api: Access["api"], refs: ReadonlySet<string>): Promise<string[]> {
  if (refs.size === 0) return [];
  return (await api.secrets.list()).flatMap(({ name, used_by }) =>
    refs.has(name) && used_by.length === 0 ? [name] : [],
  );
}
