// `plugboard registry`: the registries in which servers are found.

import { resolve } from "node:path";
import { HubError } from "../../errors.ts";
import { withAccess } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import type { Register } from "../command.ts";
import { waiting } from "../terminal/spinner.ts";
import { count } from "../terminal/text.ts";

interface MirrorOptions extends GlobalOptions {
  readonly registry: string;
  readonly since?: string;
}

export const registryCommand: Register = (program, { io }) => {
  const registry = program.command("registry").description("registries, in which servers are found: ls, mirror");
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
  registry
    .command("mirror")
    .description("copy a registry into a folder, which can be used in its place")
    .argument("<dir>", "the folder")
    .option("--registry <name>", "which registry, by its name or address", "official")
    .option("--since <time>", "read only what has changed since then, and keep the rest: 2026-01-31T12:00:00Z")
    .action(async (dir: string, options: MirrorOptions) => {
      const since = options.since === undefined ? undefined : toTime(options.since);
      await withAccess(io, options, async ({ api, out }) => {
        const known = (await api.registry.list()).find(({ name }) => name === options.registry);
        const url = known?.location ?? options.registry;
        if (!/^https?:\/\//.test(url) || (known !== undefined && !/^(?:official|mirror)$/.test(known.type))) {
          throw new HubError("InvalidArgument", `${options.registry} cannot be mirrored`, {
            field: "registry",
            hint: "Only a registry with an address and the API of the official one can",
          });
        }
        const { writeMirror } = await import("../../registry/mirror/write.ts");
        const folder = resolve(dir);
        const mirrored = await waiting(io, out, `reading ${options.registry}`, writeMirror({ url, folder, since }));
        out.changed(
          `Wrote ${count(mirrored.servers, "version")} of servers to ${folder}, ${mirrored.read} of them new`,
          {
            folder,
            ...mirrored,
          },
        );
      });
    });
};

function toTime(text: string): string {
  const time = Date.parse(text);
  if (Number.isFinite(time)) return new Date(time).toISOString();
  throw new HubError("InvalidArgument", `${JSON.stringify(text)} is not a time`, {
    field: "since",
    hint: "As 2026-01-31T12:00:00Z",
  });
}
