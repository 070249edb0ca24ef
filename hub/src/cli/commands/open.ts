// `plugboard open`: opens the web interface in a browser, signed in. Without a terminal it only prints the link.

import { openBrowser } from "../terminal/browser.ts";
import { requireHub } from "../hub-access/find-hub.ts";
import { makeUiLink } from "../hub-access/ui-link.ts";
import type { GlobalOptions } from "../io.ts";
import { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";

export const openCommand: Register = (program, { io }) => {
  program
    .command("open")
    .description("open the web interface in a browser, signed in; without a terminal, print the link")
    .action(async (options: GlobalOptions) => {
      const out = new Output(io, options);
      const hub = await requireHub(io, options);
      // A hub without the interface has a page with its addresses.
      const url = (await makeUiLink(hub)) ?? `${hub.url}/`;
      const opened = out.terminal && !out.json && (await openBrowser(io, url));
      if (out.json) out.data({ url });
      else out.print(url);
      if (out.terminal && !out.json && !opened) out.note("No browser could be opened");
    });
};
