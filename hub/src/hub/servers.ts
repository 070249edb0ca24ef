// The hub's supervisor: what all servers share, and the events that they cause.

import type { LookupFunction } from "node:net";
import type { HubEvents } from "../events.ts";
import type { HubState } from "./state.ts";
import { createLookup } from "../protocol/connect/lookup.ts";
import type { ServerContext } from "../servers/context.ts";
import { InstancePool } from "../servers/instances/instance-pool.ts";
import { StartLimiter } from "../servers/process/start-limiter.ts";
import type { Resilience } from "../servers/resilience/resilience.ts";
import { Supervisor } from "../servers/supervisor.ts";

type Given =
  | "variables"
  | "secrets"
  | "personalSecrets"
  | "listerOf"
  | "watchdog"
  | "instance"
  | "redactor"
  | "approvals"
  | "authorizationFor";

export interface HubServersOptions extends Pick<ServerContext, Given> {
  /** The folder of the config files; undefined if the config is in memory. */
  readonly configFolder: string | undefined;
  readonly lookup: LookupFunction | undefined;
  readonly state: HubState;
  readonly events: HubEvents;
  /** A server offers something else. */
  readonly onOffer: () => void;
}

/** For all servers together; each has its own limit too. An instance is usually a process. */
const MAX_INSTANCES = 128;

export function createSupervisor(options: HubServersOptions): Supervisor {
  const { configFolder, lookup, state, events, onOffer, ...given } = options;
  const { eras, listings, packages } = state;
  return new Supervisor(
    {
      ...given,
      ...(configFolder === undefined ? {} : { configFolder }),
      eras,
      startLimiter: new StartLimiter(),
      instancePool: new InstancePool("The hub", () => MAX_INSTANCES),
      lookup: createLookup(lookup),
      ...(listings === undefined ? {} : { listings }),
      ...(packages === undefined ? {} : { packages }),
    },
    {
      onStatus: ({ name, status }) => events.emit("server.status", { server: name, status }),
      onOffer,
      onCircuit: ({ name }, breaker) => events.emit("server.circuit", { server: name, breaker }),
      onFlood: ({ name, resilience }) => events.emit("warning", { message: floodWarning(name, resilience) }),
      onTaskNotification: ({ name }, notification) => events.emit("server.task", { server: name, notification }),
      onWarning: ({ name }, message) => events.emit("warning", { server: name, message }),
      onLog: ({ name }, line) => events.emit("server.log", { server: name, ...line }),
    },
  );
}

function floodWarning(server: string, { messagesPerSecond }: Resilience): string {
  const limit = `resilience.messages_per_second ${messagesPerSecond}`;
  return `Server "${server}" exceeds its message rate (${limit}): it is read more slowly`;
}
