// `plugboard stdio` with a hub of its own, in the client's process tree: where no other one is running, or none is wanted.

import { once } from "node:events";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { toHubError } from "../errors.ts";
import type { Io } from "./io.ts";
import { withHub } from "./open-hub.ts";
import { DRAIN_MS, levelOf, type StdioOptions } from "./stdio.ts";

/** A client that launches us takes our first list for the whole truth, so it waits for the servers; but not for ever. */
const SETTLE_MS = 10_000;

export function serveOwnHub(io: Io, options: StdioOptions, output: Writable): Promise<number> {
  return withHub(io, options, async (hub) => {
    const [{ StdioServer }, { startLog }] = await Promise.all([import("../wire/stdio-server.ts"), import("../log.ts")]);
    const log = startLog(hub.events, io.stderr, { level: levelOf(io, options) });
    for (const message of hub.warnings) log.say("warn", message);
    hub.catalog.groupOrSuggest(options.group); // an unknown group ends it here, with its name
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, SETTLE_MS);
    });
    const settled = Promise.race([hub.start(), patience]).finally(() => clearTimeout(timer));
    // What cannot be watched is served all the same; only edits take effect with the next start.
    await hub.configuration.watch().catch((thrown: unknown) => {
      log.say("warn", `edits of the config will not be noticed: ${toHubError(thrown).message}`);
    });
    const service = hub.endpoint(options.group, settled);
    const clientGone = new Promise<void>((resolve) => output.once("error", () => resolve()));
    const tooLong = once(io.stdin, "end").then(() => sleep(DRAIN_MS, undefined, { ref: false }));
    await Promise.race([new StdioServer({ input: io.stdin, output, service }).ended, clientGone, tooLong]);
    service.close();
    // The last answers are on their way through the pipe.
    await new Promise<void>((resolve) => output.end(resolve));
    return 0;
  });
}
