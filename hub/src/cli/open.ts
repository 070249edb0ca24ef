// `plugboard open`: the address of the hub in a browser. Without a terminal it is only printed.

import { openBrowser } from "./browser.ts";
import { requireHub } from "./find-hub.ts";
import type { GlobalOptions } from "./io.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";

export const openCommand: Register = (program, { io, done }) => {
  program
    .command("open")
    .description("open the hub's page in a browser; without a terminal, print its address")
    .action(async (options: GlobalOptions) => {
      const out = new Output(io, options);
      const { url } = await requireHub(io, options);
      const opened = out.terminal && !out.json && (await openBrowser(io, url));
      if (out.json) out.data({ url });
      else out.print(`${url}/`);
      if (out.terminal && !out.json && !opened) out.note("No browser could be opened");
      done(0);
    });
};
