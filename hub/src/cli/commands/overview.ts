// `plugboard` without arguments: the status of the running hub, or the first steps.

import { findHub } from "../hub-access/find-hub.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { Output } from "../terminal/output.ts";
import { showStatus } from "./status.ts";

const FIRST_STEPS = `All your MCP servers behind one endpoint. No hub is running.

  plugboard add @modelcontextprotocol/server-memory    add a server (or uvx:…, docker:…, a URL, -- a command)
  plugboard start                                      run the hub in the background

More: plugboard --help`;

export async function overview(io: Io, options: GlobalOptions): Promise<number> {
  const hub = await findHub(io, options);
  if (hub !== undefined) return showStatus(io, hub, options);
  const out = new Output(io, options);
  if (out.json) out.data({ running: false });
  else out.print(FIRST_STEPS);
  return 0;
}
