// `plugboard read`: reads one resource by its URI.

import { isObject } from "../../lib/json/json.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import { textOf } from "../terminal/content.ts";
import type { GlobalOptions } from "../io.ts";
import type { Register } from "../command.ts";

interface ReadOptions extends GlobalOptions {
  readonly group: string;
}

export const readCommand: Register = (program, { io }) => {
  program
    .command("read")
    .description("read a resource")
    .argument("<uri>", "URI of the resource")
    .option("--group <name>", "the group of the resource", "default")
    .action(async (uri: string, options: ReadOptions) => {
      await withAccess(io, options, (access) => read(access, uri, options.group));
    });
};

async function read(access: Access, uri: string, group: string): Promise<void> {
  const { api, out } = access;
  await api.groups.get(group);
  await access.ready();
  const { bytes, value } = await access.readResource(group, uri);
  if (out.json) return out.dataBytes(bytes);
  const contents: unknown[] = isObject(value) && Array.isArray(value["contents"]) ? value["contents"] : [];
  for (const content of contents) {
    // Binary content goes to a file or pipe only; it would garble a terminal.
    const blob = isObject(content) && typeof content["blob"] === "string" ? content["blob"] : undefined;
    if (blob !== undefined && !out.terminal) out.printBytes(Buffer.from(blob, "base64"));
    else out.printForeign(textOf(content));
  }
}
