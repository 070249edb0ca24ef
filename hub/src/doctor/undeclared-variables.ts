// Finds entries that use variables without declaring them; `doctor --fix` adds the declaration.

import { findUndeclaredVariables, undeclaredWarning } from "../config/parse/allowed-env.ts";
import { ConfigFiles } from "../config/files/config-files.ts";
import { readServers } from "./check-config.ts";
import type { PlatformContext } from "../config/files/system-folders.ts";
import type { HubPaths } from "../config/files/paths.ts";
import type { Repair } from "./repair.ts";

export async function declareVariablesRepairs({ env }: PlatformContext, { config }: HubPaths): Promise<Repair[]> {
  const servers = await readServers(config);
  return servers.flatMap((server): Repair[] => {
    const undeclared = findUndeclaredVariables(server, env);
    const [message] = undeclaredWarning(server.name, undeclared);
    if (message === undefined) return [];
    const names = undeclared.map(({ name }) => name);
    const allowEnv = [...(server.allowEnv ?? []), ...names];
    const run = async () => {
      const files = new ConfigFiles(config);
      const { allow_env: _, ...entry } = await files.readEntry(server.name);
      await files.updateServer(server.name, { ...entry, allowEnv });
      return `${server.name} now declares ${names.join(", ")}`;
    };
    return [{ section: "config", name: "config", state: "warning", message, run }];
  });
}
