// `plugboard read`: one resource, by its address.

import { isObject } from "../wire/json.ts";
import { withAccess, type Access } from "./access.ts";
import { textOf } from "./content.ts";
import type { GlobalOptions } from "./io.ts";
import type { Register } from "./program.ts";

interface ReadOptions extends GlobalOptions {
  readonly group: string;
}

export const readCommand: Register = (program, { io, done }) => {
  program
    .command("read")
    .description("read a resource")
    .argument("<uri>")
    .option("--group <name>", "the group that has it", "default")
    .action(async (uri: string, options: ReadOptions) => {
      await withAccess(io, options, (access) => read(access, uri, options.group));
      done(0);
    });
};

async function read(access: Access, uri: string, group: string): Promise<void> {
  const { api, out } = access;
  await api.getGroup(group);
  await access.ready();
  const { bytes, value } = await access.readResource(group, uri);
  if (out.json) return out.dataBytes(bytes);
  const contents: unknown[] = isObject(value) && Array.isArray(value["contents"]) ? value["contents"] : [];
  for (const content of contents) {
    // Bytes are for a file or a pipe; a terminal would be ruined by them.
    const blob = isObject(content) && typeof content["blob"] === "string" ? content["blob"] : undefined;
    if (blob !== undefined && !out.terminal) out.printBytes(Buffer.from(blob, "base64"));
    else out.printForeign(textOf(content));
  }
}
