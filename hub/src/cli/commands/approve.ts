// `plugboard approve`: approves what a server runs and its tools, or signs in the browser that shows a code.

import type { Register } from "../command.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import { approveServer, showWaiting } from "../approve/approve-server.ts";
import { signInBrowser } from "../approve/sign-in-browser.ts";
import type { GlobalOptions } from "../io.ts";

/** As the page of an OAuth client shows it. */
const CODE = /^[0-9A-Z]{4}-[0-9A-Z]{4}$/i;

export const approveCommand: Register = (program, { io }) => {
  program
    .command("approve")
    .description("approve what a server runs and its tools, or sign in the browser that shows a code")
    .argument("[what]", "a server, or a code like 7QF2-MKPX; without it: what waits for an approval")
    .argument("[tools...]", "only these tools of the server")
    .action(async (what: string | undefined, tools: string[], options: GlobalOptions) => {
      await withAccess(io, options, async (access) => {
        if (what === undefined) return showWaiting(access);
        if (tools.length === 0 && (await isCode(access, what))) return signInBrowser(io, access, what, options);
        return approveServer(io, access, { name: what, tools }, options);
      });
    });
};

/** A server may have a name like a code. */
async function isCode({ api }: Access, what: string): Promise<boolean> {
  if (!CODE.test(what)) return false;
  return (await api.servers.list({ view: "summary" })).every(
    ({ config }) => config.name !== what && config.id !== what,
  );
}
