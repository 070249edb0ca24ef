// `plugboard registry`: the registries in which servers are found.

import { withAccess } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import type { Register } from "../command.ts";

export const registryCommand: Register = (program, { io }) => {
  const registry = program.command("registry").description("registries, in which servers are found: ls");
  registry
    .command("ls")
    .alias("list")
    .description("list the registries that are searched; hub.json names others")
    .action(async (options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        const registries = await api.registry.list();
        if (out.json) return out.data(registries);
        out.table([
          ["NAME", "TYPE", "LOCATION"],
          ...registries.map(({ name, type, location, ready }) => [
            name,
            type,
            `${location ?? "part of the hub"}${ready ? "" : " (needs a key)"}`,
          ]),
        ]);
      });
    });
};
