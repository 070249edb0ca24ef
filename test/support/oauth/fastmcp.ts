// FastMCP's protected MCP server, whose authorization server is in memory and consents by itself.

import { fileURLToPath } from "node:url";
import { freePort } from "../sockets.ts";
import { findPython } from "../python.ts";
import { startBackground } from "./background.ts";
import { Front } from "./front.ts";
import type { Issuer } from "./issuer.ts";

const PROGRAM = fileURLToPath(new URL("./fastmcp_server.py", import.meta.url));
/** Python needs many seconds to load it on a busy machine. */
const START_MS = 120_000;

export const python = await findPython("fastmcp", "cyclopts");

export interface FastMcp extends Issuer {
  /** The MCP endpoint. */
  readonly url: string;
}

export async function startFastMcp(): Promise<FastMcp> {
  if (python.kind === "missing") throw new Error(python.reason);
  const front = await Front.open([
    [/^\/\.well-known\//, "metadata"],
    [/^\/authorize$/, "authorize"],
    [/^\/token$/, "token"],
    [/^\/register$/, "register"],
    [/^\/revoke$/, "revoke"],
  ]);
  const port = await freePort();
  const program = await startBackground([python.path, PROGRAM, String(port), front.url], {
    url: `http://127.0.0.1:${port}/mcp`,
    withinMs: START_MS,
  });
  front.serve(port);
  return {
    // Its trailing slash is part of the name.
    issuer: `${front.url}/`,
    url: `${front.url}/mcp`,
    front,
    approve: (browser, url, until) => browser.open(url, until),
    close: async () => {
      await front.close();
      await program.close();
    },
  };
}
