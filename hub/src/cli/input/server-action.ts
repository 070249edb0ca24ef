// Starts, stops or restarts one server of the running hub.

import { HubError } from "../../errors.ts";
import { fromBody } from "./error-body.ts";
import type { RunningHub } from "../hub-access/find-hub.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { Output } from "../terminal/output.ts";
import { describe } from "../terminal/progress.ts";
import { waiting } from "../terminal/spinner.ts";

export interface ServerAction {
  readonly server: string;
  readonly action: "start" | "stop" | "restart";
  readonly options: GlobalOptions;
}

const DONE = { start: "Started", stop: "Stopped", restart: "Restarted" } as const;
const DOING = { start: "starting", stop: "stopping", restart: "restarting" } as const;
const LOOK_MS = 500;

export async function act(io: Io, { client }: RunningHub, { server, action, options }: ServerAction): Promise<void> {
  const out = new Output(io, options);
  const { config } = await client.servers.get(server);
  let stage = "";
  const look = async () => {
    stage = (await client.servers.get(config.id)).stage ?? "";
  };
  const timer = out.live ? setInterval(() => void look().catch(() => undefined), LOOK_MS) : undefined; // for the progress line only
  const run = {
    start: () => client.servers.start(config.id),
    stop: () => client.servers.stop(config.id),
    restart: () => client.servers.restart(config.id),
  };
  try {
    const done = await waiting(io, out, () => `${DOING[action]} ${config.name} ${stage}`, run[action]());
    const what = action === "stop" ? "" : ` (${describe(done)})`;
    out.changed(`${DONE[action]} ${config.name}${what}`, done);
  } catch (error) {
    // If the error has no hint, point to `plugboard get`.
    throw error instanceof HubError && error.hint === undefined ? withAdvice(error, config.name) : error;
  } finally {
    clearInterval(timer);
  }
}

function withAdvice({ kind, message, field, detail }: HubError, name: string): HubError {
  const hint = detail === undefined ? `plugboard get ${name}` : `After fixing it: plugboard start ${name}`;
  return fromBody({ kind, message, field, detail, hint });
}
