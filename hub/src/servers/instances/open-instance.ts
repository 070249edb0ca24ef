// Opens a connection for an instance. Unlike a start of the server it reads no lists and does not change the status.

import { HubError } from "../../errors.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import type { RawParams } from "../../protocol/rpc/jsonrpc.ts";
import type { AskClient } from "../../protocol/serve/service.ts";
import type { Dialer } from "../connection/dialer.ts";
import type { ConnectOptions, OnlyClient, Upstream } from "../connection/upstream.ts";
import type { ServerState } from "../server-state.ts";
import type { Caller } from "./caller.ts";
import type { InstancePurpose } from "./instances.ts";

/** What an instance says outside of any request. */
export interface InstanceEvents {
  readonly onClientRequest: NonNullable<ConnectOptions["onClientRequest"]>;
  onListChanged(purpose: InstancePurpose): void;
  onResourceUpdated(source: Upstream, params: RawParams | undefined): void;
  onGap(source: Upstream): void;
}

export interface InstanceConnection extends InstancePurpose {
  readonly state: ServerState;
  readonly dialer: Dialer;
  readonly signal: AbortSignal;
  /** Its secrets are known for as long as the owner exists. */
  readonly owner: object;
  readonly events: InstanceEvents;
}

const ignore = () => undefined;

export async function openInstance(connection: InstanceConnection): Promise<Upstream> {
  const { state, dialer, signal, owner, events, legacyOnly, client, principal } = connection;
  const only = client === undefined ? undefined : new InstanceClient(client);
  let opened: Upstream | undefined;
  const upstream = await dialer.open({
    signal,
    owner,
    onClientRequest: events.onClientRequest,
    onTaskNotification: (notification) => state.events.onTaskNotification(notification),
    onFlood: () => state.reportFlood(),
    onListChanged: () => events.onListChanged(connection),
    // Nobody subscribes before it is open.
    onResourceUpdated: (params) => opened && events.onResourceUpdated(opened, params),
    onGap: () => opened && events.onGap(opened),
    onStage: ignore,
    ...(legacyOnly === true ? { legacyOnly } : {}),
    ...(only === undefined ? {} : { client: only }),
    ...(principal === undefined ? {} : { principal }),
  });
  opened = upstream;
  // Before its first call, so that its logs have the level. Nothing else depends on it.
  if (state.logLevel !== undefined) await upstream.setLogLevel(state.logLevel).catch(() => undefined);
  await upstream.hear();
  if (only?.capabilities["roots"] !== undefined && upstream.era === "legacy") await upstream.settled();
  only?.settled();
  return upstream;
}

const refuse: AskClient = (method) =>
  Promise.reject(new HubError("ConnectionFailed", `The client cannot be asked ${method}`));

/** The only client of an instance: asked on the stream of the request that opens it, later on the stream of its session. */
class InstanceClient implements OnlyClient {
  readonly capabilities: JsonObject;
  ask: AskClient;
  readonly #askSession: AskClient;

  constructor({ capabilities = {}, ask, askSession }: Caller) {
    this.capabilities = capabilities;
    this.#askSession = askSession ?? refuse;
    this.ask = ask ?? this.#askSession;
  }

  /** From now on the opening request may be answered at any time, so nothing may hold on to it. */
  settled(): void {
    this.ask = this.#askSession;
  }
}
