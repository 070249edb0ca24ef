// Opens connections to servers that the hub does not start: Streamable HTTP, HTTP+SSE, WebSocket. Which of them a server
// speaks is in its config; a server at an http address that knows only the oldest is found out in the handshake.

import type { LookupFunction } from "node:net";
import { HubError } from "../errors.ts";
import type { HttpChannel as HttpClient } from "../wire/http-client.ts";
import { Peer, type PeerHandlers } from "../wire/peer.ts";
import { findRoute, type Route } from "../wire/route.ts";
import type { Environment } from "./environment.ts";
import type { InflowOptions } from "../wire/inflow.ts";
import { atRate, deferred, MAX_MESSAGE_BYTES, type Link } from "./link.ts";
import type { ResolvedServer } from "./resolve.ts";

/** The library's clock is up to a second late: after five in all, a server that cannot be reached is told to be so. */
const CONNECT_TIMEOUT_MS = 4000;
const ENDPOINT_TIMEOUT_MS = 10_000;
/** One that has just refused a message at once is awake: were it of this kind, it would say so as quickly. */
const FALLBACK_TIMEOUT_MS = 2000;

interface Remote {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly handlers: PeerHandlers;
  /** Who knows where hosts are. */
  readonly lookup?: LookupFunction | undefined;
  readonly inflow: InflowOptions;
  readonly route: Route;
}

export async function openRemote(
  { transport, network = {} }: ResolvedServer,
  handlers: PeerHandlers,
  { lookup, inflow, variables = {} }: Pick<Remote, "lookup" | "inflow"> & { variables?: Environment },
): Promise<Link> {
  if (transport.type === "stdio") throw new HubError("InvalidConfig", "A stdio server has no address to connect to");
  const { type, url, headers } = transport;
  const schemes = type === "websocket" ? ["ws:", "wss:"] : ["http:", "https:"];
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !schemes.includes(parsed.protocol)) {
    const [plain, secure] = schemes;
    const message = `The url, with its variables filled in, is not a ${plain}// or ${secure}// address`;
    throw new HubError("InvalidConfig", message, { field: "url" });
  }
  const route = await findRoute(parsed, network, variables);
  return OPENERS[type]({ url: parsed, headers, handlers, lookup, inflow, route });
}

// The libraries are loaded only where a server needs them: they cost more to load than the rest of the hub.
const OPENERS = { http: openHttp, sse: (remote: Remote) => openSse(remote), websocket: openWebSocket } as const;

async function openHttp(remote: Remote): Promise<Link> {
  const { HttpChannel } = await import("../wire/http-client.ts");
  const { promise: lost, resolve: onLost } = deferred<HubError>();
  const reading = atRate(remote.inflow);
  const channel: HttpClient = new HttpChannel({
    ...limits(remote),
    onMessage: reading.receive((bytes, via) => peer.receive(bytes, via)),
    pauseMs: reading.pauseMs,
    isWaiting: (id) => peer.isWaiting(id),
    onFinished: (id, why) => {
      if (peer.isWaiting(id)) peer.failRequest(id, why());
    },
    onUnreachable: (error) => onLost(error),
  });
  const peer = new Peer(channel, remote.handlers);
  return {
    ...link("http", remote, peer, lost),
    agreed: (version, { modern }) => channel.agreed(version, { closeCancels: modern }),
    listen: (onOpen) => channel.listen(onOpen),
    fallback: () => openSse(remote, FALLBACK_TIMEOUT_MS),
    close: () => channel.close(),
    kill: () => channel.close(),
  };
}

async function openSse(remote: Remote, endpointTimeoutMs = ENDPOINT_TIMEOUT_MS): Promise<Link> {
  const { SseChannel } = await import("../wire/sse-client.ts");
  const { promise: lost, resolve: onLost } = deferred<HubError>();
  // Nothing was asked before there is one, so nothing said before is missed.
  let peer: Peer | undefined;
  const reading = atRate(remote.inflow);
  const channel = await SseChannel.open({
    ...limits(remote),
    endpointTimeoutMs,
    onMessage: reading.receive((bytes) => peer?.receive(bytes) ?? false),
    pauseMs: reading.pauseMs,
    onRefused: (id, error) => peer?.failRequest(id, error),
    onLost,
  });
  peer = new Peer(channel, remote.handlers);
  return {
    ...link("sse", remote, peer, lost),
    agreed: (version) => channel.agreed(version),
    close: () => channel.close(),
    kill: () => channel.close(),
  };
}

async function openWebSocket(remote: Remote): Promise<Link> {
  const { WebSocketChannel } = await import("../wire/ws-client.ts");
  const { promise: lost, resolve: onLost } = deferred<HubError>();
  // Nothing was asked before there is one, so nothing said before is missed.
  let peer: Peer | undefined;
  const reading = atRate(remote.inflow);
  const channel = await WebSocketChannel.open({
    ...limits(remote),
    onMessage: reading.receive((bytes) => peer?.receive(bytes) ?? false),
    pauseMs: reading.pauseMs,
    onLost,
  });
  peer = new Peer(channel, remote.handlers);
  return {
    ...link("websocket", remote, peer, lost),
    agreed: () => undefined,
    close: () => channel.close(),
    kill: () => channel.close(),
  };
}

function limits({ url, headers, lookup, route }: Remote) {
  const bounds = { maxMessageBytes: MAX_MESSAGE_BYTES, connectTimeoutMs: CONNECT_TIMEOUT_MS };
  return { url, headers, route, ...bounds, ...(lookup === undefined ? {} : { lookup }) };
}

/** What all of them have in common. */
function link<T extends Link["transport"]>(transport: T, { url }: Remote, peer: Peer, lost: Promise<HubError>) {
  void lost.then((error) => peer.fail(error));
  return { transport, address: addressOf(url), peer, pid: undefined, lost, stderr: () => "" };
}

function addressOf({ hostname, port, protocol }: URL): { host: string; port: number } {
  const standard = protocol === "https:" || protocol === "wss:" ? 443 : 80;
  return { host: hostname, port: port === "" ? standard : Number(port) };
}
