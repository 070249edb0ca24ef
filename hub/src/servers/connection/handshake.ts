// Detects the era of a server and does the handshake. A legacy server answers the modern probe with an error; one that
// exits on the probe is started again and initialized the legacy way.

import { HubError } from "../../errors.ts";
import { LEGACY_VERSIONS, META, MODERN_VERSION, outgoingMeta, type Era } from "../../protocol/revisions/era.ts";
import { requestHeaders } from "../../protocol/revisions/headers.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { RPC, rpcErrorIn, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import { VERSION } from "../../version.ts";
import type { Link } from "./link.ts";

/** How a connection introduces itself to a server. */
export interface Identity {
  readonly clientInfo: ClientInfo;
  /** For a legacy server. A modern one gets them with every request. */
  readonly capabilities: JsonObject;
}

export interface ClientInfo extends JsonObject {
  readonly name: string;
  readonly version: string;
}

export const CLIENT_INFO: ClientInfo = { name: "plugboard", version: VERSION };
/**
 * A legacy server gets the capabilities once, for all clients of the hub. Requests that a particular client cannot answer are
 * refused.
 */
export const HUB_IDENTITY: Identity = {
  clientInfo: CLIENT_INFO,
  capabilities: { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} },
};

/** A server's description of itself. */
export interface ServerInfo {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject | undefined;
  readonly instructions: string | undefined;
}

export interface HandshakeOptions {
  /** The era of an earlier handshake. Legacy saves the probe. */
  readonly known: Era | undefined;
  /** Use the legacy handshake even if the server supports both eras. */
  readonly legacyOnly?: boolean;
  /** How long a server on stdio or a WebSocket may be silent on the probe before it is initialized the legacy way. */
  readonly probeMs: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Default: the hub's. */
  readonly identity?: Identity | undefined;
  open(): Promise<Link>;
}

export interface Handshake {
  readonly link: Link;
  readonly info: ServerInfo;
  /** Whether the server itself confirmed the era. Silence proves nothing: it may only be slow. */
  readonly isCertain: boolean;
}

export async function shakeHands(options: HandshakeOptions): Promise<Handshake> {
  const first = await options.open();
  let second: Link | undefined;
  try {
    if (options.legacyOnly === true) {
      return { link: first, info: await initialize(first, options), isCertain: false };
    }
    // HTTP+SSE is older than the modern era.
    const isOld = options.known === "legacy" || first.transport === "sse";
    const modern = isOld ? undefined : await probe(first, options);
    if (modern !== "exited") {
      const answered = modern === "silent" ? undefined : modern;
      const answer = answered ?? (await initializeOrProbe(first, options));
      return { link: first, info: answer, isCertain: modern !== "silent" || answer.era === "modern" };
    }
  } catch (error) {
    await first.kill();
    if (isNotThere(error)) second = await first.fallback?.().catch(() => undefined); // the first error is more informative
    if (second === undefined) throw withStderr(error, first);
  }
  second ??= await options.open();
  try {
    return { link: second, info: await initialize(second, options), isCertain: true };
  } catch (error) {
    await second.kill();
    throw withStderr(error, second);
  }
}

/** Whether a failed legacy handshake means that the server does not support the legacy era. */
export function knowsNoLegacy(error: HubError): boolean {
  return isRefusal(error) || isNotThere(error) || error.kind === "Timeout";
}

/** Whether the address does not accept the handshake at all: it may be the older HTTP+SSE transport. */
function isNotThere(error: unknown): boolean {
  return error instanceof HubError && "status" in error && isNoAnswer(error.status);
}

function isNoAnswer(status: unknown): boolean {
  return status === 400 || status === 404 || status === 405;
}

/** The last lines of stderr are the best explanation. */
function withStderr(error: unknown, link: Link): unknown {
  if (!(error instanceof HubError) || error.detail !== undefined || link.stderr() === "") return error;
  return new HubError(error.kind, error.message, { detail: link.stderr(), cause: error });
}

/**
 * Sends the modern probe. Undefined: the server is legacy. "exited": it exited on the probe. "silent": no answer in time.
 */
async function probe(link: Link, options: HandshakeOptions): Promise<ServerInfo | undefined | "exited" | "silent"> {
  // A silent server must still have time for the legacy handshake.
  const timeoutMs = link.transport === "http" ? options.timeoutMs : Math.min(options.probeMs, options.timeoutMs / 2);
  const { clientInfo } = options.identity ?? HUB_IDENTITY;
  const meta = outgoingMeta({ from: {}, era: "modern", clientInfo, capabilities: {} });
  const headers = { ...requestHeaders("server/discover", undefined), "mcp-protocol-version": MODERN_VERSION };
  const params = Buffer.from(JSON.stringify({ _meta: meta }));
  const discover = () =>
    link.peer.request("server/discover", () => params, { timeoutMs, headers, signal: options.signal });
  try {
    const reply = await discover();
    return modernInfo(link, namesOurVersion(reply) ? await discover() : reply);
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return legacyEvidence(link, error, options.signal);
  }
}

/** The server refuses our version but lists it as supported: on a second probe it may be ready. */
function namesOurVersion(reply: Reply): boolean {
  if (reply.ok || !isObject(reply.error.value)) return false;
  const { code, data } = reply.error.value;
  const supported = isObject(data) ? data["supported"] : undefined;
  return code === RPC.unsupportedVersion && Array.isArray(supported) && supported.includes(MODERN_VERSION);
}

function modernInfo(link: Link, reply: Reply): ServerInfo | undefined {
  if (!reply.ok || !isObject(reply.result.value)) return undefined;
  const { supportedVersions, capabilities, instructions, _meta: meta } = reply.result.value;
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_VERSION)) return undefined;
  link.agreed(MODERN_VERSION, { modern: true });
  const serverInfo = isObject(meta) ? meta[META.serverInfo] : undefined;
  return toInfo("modern", MODERN_VERSION, { capabilities, serverInfo, instructions });
}

/** Interprets a failed probe. An outage or a refused credential does not show the era and is thrown. */
async function legacyEvidence(
  link: Link,
  error: HubError,
  signal: AbortSignal,
): Promise<undefined | "exited" | "silent"> {
  if (signal.aborted) throw error;
  if (link.transport !== "http") {
    if (error.kind === "Timeout") return "silent";
    if (link.transport === "websocket" && error.kind === "ConnectionFailed") return "exited";
    // Exited on the probe. Other kinds (no such package, no Docker) are thrown: a second try is pointless.
    if (error.kind === "ProcessSpawnFailed") return "exited";
    throw error;
  }
  if (!("status" in error) || typeof error.status !== "number") throw error;
  if (isNoAnswer(error.status)) return undefined;
  // Some legacy servers answer an unknown method with 500; a JSON-RPC error in the body distinguishes them from a broken one.
  if (error.status >= 500 && error.rpcError !== undefined) return undefined;
  throw error;
}

/** The legacy handshake. A server that refuses it may be modern: too slow for the probe, or updated since it was last seen. */
async function initializeOrProbe(link: Link, options: HandshakeOptions): Promise<ServerInfo> {
  try {
    return await initialize(link, options);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const modern = await probe(link, options).catch(() => undefined);
    if (modern === undefined || typeof modern === "string") throw error;
    return modern;
  }
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof HubError)) return false;
  return error.kind === "InitializationFailed" || error.rpcError !== undefined;
}

async function initialize(link: Link, { timeoutMs, signal, identity }: HandshakeOptions): Promise<ServerInfo> {
  const { capabilities, clientInfo } = identity ?? HUB_IDENTITY;
  const params = { protocolVersion: LEGACY_VERSIONS[0], capabilities, clientInfo };
  const bytes = Buffer.from(JSON.stringify(params));
  const reply = await link.peer.request("initialize", () => bytes, { timeoutMs, signal });
  if (!reply.ok) throw refused(reply.error.value);
  const { value } = reply.result;
  const version = isObject(value) ? value["protocolVersion"] : undefined;
  if (!isObject(value) || !LEGACY_VERSIONS.some((known) => known === version)) {
    throw new HubError(
      "InitializationFailed",
      `The server wants protocol version ${String(version)}, which is not supported`,
    );
  }
  link.agreed(String(version), { modern: false });
  link.peer.notify("notifications/initialized");
  return toInfo("legacy", String(version), value);
}

function toInfo(era: Era, version: string, result: JsonObject): ServerInfo {
  const { capabilities, serverInfo, instructions } = result;
  return {
    era,
    version,
    capabilities: isObject(capabilities) ? capabilities : {},
    serverInfo: isObject(serverInfo) ? serverInfo : undefined,
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}

function refused(error: unknown): HubError {
  const { code, message } = isObject(error) ? error : {};
  const modernOnly = code === RPC.unsupportedVersion ? " (no revision in common)" : "";
  const rpcError = rpcErrorIn(error);
  return new HubError("InitializationFailed", `The server refused the handshake${modernOnly}`, {
    ...(typeof message === "string" ? { detail: message } : {}),
    ...(rpcError === undefined ? {} : { rpcError }),
  });
}
