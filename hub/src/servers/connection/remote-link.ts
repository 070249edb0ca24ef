// Opens connections to remote servers: Streamable HTTP, HTTP+SSE, WebSocket, as configured. The handshake detects a server at an
// http address that supports only HTTP+SSE.

import type { LookupFunction } from "node:net";
import { HubError } from "../../errors.ts";
import type { Authorization } from "../../protocol/connect/authorization.ts";
import type { HttpChannel as HttpClient } from "../../protocol/connect/http-client.ts";
import { Peer, type PeerHandlers } from "../../protocol/connect/peer.ts";
import { findRoute, type RemoteRoute } from "../../protocol/connect/remote-route.ts";
import type { Environment } from "../process/environment.ts";
import { atRate, type ReadLimiterOptions } from "../../protocol/connect/read-limiter.ts";
import { deferred, MAX_MESSAGE_BYTES, type Link } from "./link.ts";
import type { ResolvedServer } from "../process/resolve.ts";

/** The library's timer is up to a second late: an unreachable server fails within five seconds in all. */
const CONNECT_TIMEOUT_MS = 4000;
const ENDPOINT_TIMEOUT_MS = 10_000;
/** The server has just answered a message: an HTTP+SSE server would send its endpoint as quickly. */
const FALLBACK_TIMEOUT_MS = 2000;

interface Remote {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly handlers: PeerHandlers;
  readonly lookup?: LookupFunction | undefined;
  readonly inflow: ReadLimiterOptions;
  readonly route: RemoteRoute;
  /** Undefined: the headers of the entry are all the credentials that there are. */
  readonly authorization?: Authorization | undefined;
}

export async function openRemote(
  { transport, network = {} }: ResolvedServer,
  handlers: PeerHandlers,
  {
    lookup,
    inflow,
    variables = {},
    authorize,
  }: Pick<Remote, "lookup" | "inflow"> & {
    variables?: Environment;
    authorize?: (url: URL) => Authorization | undefined;
  },
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
  const authorization = authorize?.(parsed);
  return OPENERS[type]({
    url: parsed,
    headers: authorization === undefined ? headers : withoutAuthorization(headers),
    handlers,
    lookup,
    inflow,
    route,
    authorization,
  });
}

/** Header names are not case-sensitive. */
function withoutAuthorization(headers: Remote["headers"]): Remote["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== "authorization"));
}

// Loaded only if a server needs them: they take longer to load than the rest of the hub.
const OPENERS = { http: openHttp, sse: (remote: Remote) => openSse(remote), websocket: openWebSocket } as const;

async function openHttp(remote: Remote): Promise<Link> {
  const { HttpChannel } = await import("../../protocol/connect/http-client.ts");
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
    ...link("http", remote, peer, { lost, channel }),
    agreed: (version, { modern }) => channel.agreed(version, { closeCancels: modern }),
    listen: (onOpen) => channel.listen(onOpen),
    fallback: () => openSse(remote, FALLBACK_TIMEOUT_MS),
  };
}

async function openSse(remote: Remote, endpointTimeoutMs = ENDPOINT_TIMEOUT_MS): Promise<Link> {
  const { SseChannel } = await import("../../protocol/connect/sse-client.ts");
  const { promise: lost, resolve: onLost } = deferred<HubError>();
  // Messages before this is set are dropped: no request was sent yet.
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
    ...link("sse", remote, peer, { lost, channel }),
    agreed: (version) => channel.agreed(version),
  };
}

async function openWebSocket(remote: Remote): Promise<Link> {
  const { WebSocketChannel } = await import("../../protocol/connect/ws-client.ts");
  const { promise: lost, resolve: onLost } = deferred<HubError>();
  // Messages before this is set are dropped: no request was sent yet.
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
    ...link("websocket", remote, peer, { lost, channel }),
    agreed: () => undefined,
  };
}

function limits({ url, headers, lookup, route, authorization }: Remote) {
  const bounds = { maxMessageBytes: MAX_MESSAGE_BYTES, connectTimeoutMs: CONNECT_TIMEOUT_MS };
  return { url, headers, route, authorization, ...bounds, ...(lookup === undefined ? {} : { lookup }) };
}

/** The members that all remote links share. */
function link<T extends Link["transport"]>(
  transport: T,
  { url }: Remote,
  peer: Peer,
  { lost, channel }: { readonly lost: Promise<HubError>; readonly channel: { close(): Promise<void> } },
) {
  void lost.then((error) => peer.fail(error));
  const close = () => {
    // No caller has cancelled these requests, and some of them may not have been sent yet.
    peer.fail(new HubError("ServerNotRunning", "The connection to the server was closed"));
    return channel.close();
  };
  return { transport, address: addressOf(url), peer, pid: undefined, lost, stderr: () => "", close, kill: close };
}

function addressOf({ hostname, port, protocol }: URL): { host: string; port: number } {
  const standard = protocol === "https:" || protocol === "wss:" ? 443 : 80;
  return { host: hostname, port: port === "" ? standard : Number(port) };
}
