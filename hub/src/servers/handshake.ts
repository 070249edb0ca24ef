// Finds out which era a server speaks and shakes hands with it. A legacy server answers the modern probe with an
// error and goes on; one that exits on it is started once more and asked the old way.

import { HubError } from "../errors.ts";
import { LEGACY_VERSIONS, META, MODERN_VERSION, outgoingMeta, type Era } from "../wire/era.ts";
import { requestHeaders } from "../wire/headers.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { RPC, type Reply } from "../wire/jsonrpc.ts";
import { VERSION } from "../version.ts";
import type { Link } from "./link.ts";

export const CLIENT_INFO = { name: "plugboard", version: VERSION } as const;
/**
 * A legacy server learns once what all its clients may be able to do; what the calling one lacks is refused when it asks.
 * A modern one is told with every request, and of the hub's own nothing.
 */
const LEGACY_CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} } as const;

/** What a server said about itself. */
export interface Hello {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject | undefined;
  readonly instructions: string | undefined;
}

export interface HandshakeOptions {
  /** What an earlier handshake found. A legacy verdict spares the probe. */
  readonly known: Era | undefined;
  /** The connection must be a legacy one, also with a server that knows both eras. */
  readonly legacyOnly?: boolean;
  /** How long a server on a pipe or a WebSocket may stay silent on the probe before it is asked the old way. */
  readonly probeMs: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  open(): Promise<Link>;
}

export interface Handshake {
  readonly link: Link;
  readonly hello: Hello;
  /** Whether the era is the server's own word. Silence says nothing: it may only have been slow. */
  readonly isCertain: boolean;
}

export async function shakeHands(options: HandshakeOptions): Promise<Handshake> {
  const first = await options.open();
  let second: Link | undefined;
  try {
    if (options.legacyOnly === true) {
      return { link: first, hello: await initialize(first, options), isCertain: false };
    }
    // HTTP+SSE is older than the modern era.
    const isOld = options.known === "legacy" || first.transport === "sse";
    const modern = isOld ? undefined : await probe(first, options);
    if (modern !== "exited") {
      const answered = modern === "silent" ? undefined : modern;
      const said = answered ?? (await initializeOrProbe(first, options));
      return { link: first, hello: said, isCertain: modern !== "silent" || said.era === "modern" };
    }
  } catch (error) {
    await first.kill();
    if (isNotThere(error)) second = await first.fallback?.().catch(() => undefined); // the first reason is the better one
    if (second === undefined) throw withStderr(error, first);
  }
  second ??= await options.open();
  try {
    return { link: second, hello: await initialize(second, options), isCertain: true };
  } catch (error) {
    await second.kill();
    throw withStderr(error, second);
  }
}

/** Whether a failed legacy handshake says that the server does not speak the era, or does not answer those who do. */
export function knowsNoLegacy(error: HubError): boolean {
  return isRefusal(error) || isNotThere(error) || error.kind === "Timeout";
}

/** Whether the address does not take the handshake at all: the oldest transport has another way in. */
function isNotThere(error: unknown): boolean {
  return error instanceof HubError && "status" in error && isNoAnswer(error.status);
}

function isNoAnswer(status: unknown): boolean {
  return status === 400 || status === 404 || status === 405;
}

/** What the server wrote last is the best explanation there is. */
function withStderr(error: unknown, link: Link): unknown {
  if (!(error instanceof HubError) || error.detail !== undefined || link.stderr() === "") return error;
  return new HubError(error.kind, error.message, { detail: link.stderr(), cause: error });
}

/**
 * Asks the modern question. No hello means legacy; "exited" that the server could not bear being asked, "silent" that it said
 * nothing in time.
 */
async function probe(link: Link, options: HandshakeOptions): Promise<Hello | undefined | "exited" | "silent"> {
  // A silent server must still have time to be asked the old way.
  const timeoutMs = link.transport === "http" ? options.timeoutMs : Math.min(options.probeMs, options.timeoutMs / 2);
  const meta = outgoingMeta({ from: {}, era: "modern", clientInfo: CLIENT_INFO, capabilities: {} });
  const headers = { ...requestHeaders("server/discover", undefined), "mcp-protocol-version": MODERN_VERSION };
  const params = Buffer.from(JSON.stringify({ _meta: meta }));
  const discover = () =>
    link.peer.request("server/discover", () => params, { timeoutMs, headers, signal: options.signal });
  try {
    const reply = await discover();
    return modernHello(link, namesOurVersion(reply) ? await discover() : reply);
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return legacyEvidence(link, error, options.signal);
  }
}

/** Refused for its version, with the same one among those to choose from: asked once more, the server may be ready. */
function namesOurVersion(reply: Reply): boolean {
  if (reply.ok || !isObject(reply.error.value)) return false;
  const { code, data } = reply.error.value;
  const supported = isObject(data) ? data["supported"] : undefined;
  return code === RPC.unsupportedVersion && Array.isArray(supported) && supported.includes(MODERN_VERSION);
}

function modernHello(link: Link, reply: Reply): Hello | undefined {
  if (!reply.ok || !isObject(reply.result.value)) return undefined;
  const { supportedVersions, capabilities, instructions, _meta: meta } = reply.result.value;
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_VERSION)) return undefined;
  link.agreed(MODERN_VERSION, { modern: true });
  const serverInfo = isObject(meta) ? meta[META.serverInfo] : undefined;
  return hello("modern", MODERN_VERSION, { capabilities, serverInfo, instructions });
}

/** What a failed probe says. An outage or a refused credential says nothing about the era and is thrown. */
async function legacyEvidence(
  link: Link,
  error: HubError,
  signal: AbortSignal,
): Promise<undefined | "exited" | "silent"> {
  if (signal.aborted) throw error;
  if (link.transport !== "http") {
    if (error.kind === "Timeout") return "silent";
    if (link.transport === "websocket" && error.kind === "ConnectionFailed") return "exited";
    // Ended on the probe. With a reason of its own (no such package, no Docker) a second try is pointless.
    if (error.kind === "ProcessSpawnFailed") return "exited";
    throw error;
  }
  if (!("status" in error) || typeof error.status !== "number") throw error;
  if (isNoAnswer(error.status)) return undefined;
  // Some legacy servers answer an unknown method with 500; a JSON-RPC error in the body tells them from a broken one.
  if (error.status >= 500 && "rpcError" in error && error.rpcError !== undefined) return undefined;
  throw error;
}

/** The old way. Who refuses it may be modern after all: too slow for the first question, or legacy only when last seen. */
async function initializeOrProbe(link: Link, options: HandshakeOptions): Promise<Hello> {
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
  return error.kind === "InitializationFailed" || ("rpcError" in error && error.rpcError !== undefined);
}

async function initialize(link: Link, { timeoutMs, signal }: HandshakeOptions): Promise<Hello> {
  const params = { protocolVersion: LEGACY_VERSIONS[0], capabilities: LEGACY_CAPABILITIES, clientInfo: CLIENT_INFO };
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
  return hello("legacy", String(version), value);
}

function hello(era: Era, version: string, said: JsonObject): Hello {
  const { capabilities, serverInfo, instructions } = said;
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
  const detail = typeof message === "string" ? { detail: message } : {};
  return new HubError("InitializationFailed", `The server refused the handshake${modernOnly}`, detail);
}
