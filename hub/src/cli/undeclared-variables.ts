// Entries of the file that use variables which they do not declare: `doctor --fix` writes the declaration for them.

import { findUndeclared, undeclaredWarning } from "../config/allowed-env.ts";
import { ConfigFiles } from "../config/file.ts";
import { readServers } from "./check-config.ts";
import type { Io } from "./io.ts";
import type { Places } from "./record.ts";
import type { Repair } from "./repair.ts";

export async function findUndeclaredVariables({ env }: Io, { config }: Places): Promise<Repair[]> {
  const servers = await readServers(config);
  return servers.flatMap((server): Repair[] => {
    const undeclared = findUndeclared(server, env);
    const [message] = undeclaredWarning(server.name, undeclared);
    if (message === undefined) return [];
    const names = undeclared.map(({ name }) => name);
    const allowEnv = [...(server.allowEnv ?? []), ...names];
    const run = async () => {
      const files = new ConfigFiles(config);
      const { allow_env: _, ...entry } = await files.readEntry(server.name);
      await files.updateServer(server.name, { ...entry, allowEnv });
      return `${server.name} declares ${names.join(", ")} now`;
    };
    return [{ name: "config", state: "warning", message, run }];
  });
}
