// `plugboard stdio` with its own hub in the client's process tree, if no hub is running or with --own.

import { once } from "node:events";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { toHubError } from "../../errors.ts";
import type { Io } from "../io.ts";
import { withHub } from "./open-hub.ts";
import { exposureOf } from "./stdio-target.ts";
import { DRAIN_MS, levelOf, type StdioOptions } from "../commands/stdio.ts";

/** Clients treat the first list as final, so it waits for the servers, but not forever. */
const SETTLE_MS = 10_000;

export function serveOwnHub(io: Io, options: StdioOptions, output: Writable): Promise<number> {
  return withHub(io, options, async (hub) => {
    const [{ StdioServer }, { startLog }] = await Promise.all([
      import("../../protocol/serve/stdio-server.ts"),
      import("../../log/log.ts"),
    ]);
    const log = startLog(hub.events, io.stderr, { level: levelOf(io, options) });
    for (const message of hub.warnings) log.say("warn", message);
    hub.catalog.groupOrSuggest(options.group); // throws for an unknown group
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, SETTLE_MS);
    });
    const settled = Promise.race([hub.start(), patience]).finally(() => clearTimeout(timer));
    // If the config cannot be watched, edits take effect at the next start.
    await hub.watch().catch((thrown: unknown) => {
      log.say("warn", `config changes will not be noticed: ${toHubError(thrown).message}`);
    });
    const service = hub.endpoint(options.group, { settled, exposure: exposureOf(options) });
    const clientDisconnected = new Promise<void>((resolve) => output.once("error", () => resolve()));
    const tooLong = once(io.stdin, "end").then(() => sleep(DRAIN_MS, undefined, { ref: false }));
    await Promise.race([new StdioServer({ input: io.stdin, output, service }).ended, clientDisconnected, tooLong]);
    service.close();
    // Flush the last answers.
    await new Promise<void>((resolve) => output.end(resolve));
    return 0;
  });
}
