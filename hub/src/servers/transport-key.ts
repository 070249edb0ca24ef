// Names what a server is run or asked by, for what is remembered about it between starts.

import { createHash } from "node:crypto";
import type { Transport } from "../config/types.ts";

/** As the user wrote it: variables stay unresolved, so no secret gets in. */
export function transportKey(transport: Transport): string {
  const what =
    transport.type === "stdio"
      ? [transport.command, ...transport.args, transport.cwd ?? ""]
      : [transport.type, transport.url];
  return createHash("sha256").update(JSON.stringify(what)).digest("hex").slice(0, 32);
}
