// The differences between the two eras of MCP, as pure functions on parsed messages.
// Legacy: revisions 2024-11-05 … 2025-11-25, with a handshake and a session. Modern: 2026-07-28, where every request
// carries its own envelope in `_meta` and every result has a `resultType`.

import { editObject, isObject, type JsonObject } from "../../lib/json/json.ts";
import { RPC, type Raw, type Reply, type RpcError } from "../rpc/jsonrpc.ts";

export type Era = "legacy" | "modern";

export const MODERN_VERSION = "2026-07-28";
export const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const SUPPORTED_VERSIONS: readonly string[] = [MODERN_VERSION, ...LEGACY_VERSIONS];

/** Keys of `_meta` that the protocol reserves. */
export const META = {
  version: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;

/** The error of 2025-11-25 by which a server requires a URL to be opened first. */
export const URL_ELICITATION_REQUIRED = -32042;

/** Keys of `_meta` that each hop sets itself. */
const HOP_KEYS: readonly string[] = [
  META.version,
  META.clientInfo,
  META.clientCapabilities,
  META.logLevel,
  "progressToken",
];

/** Revisions are ISO dates, so they compare as text. */
export function eraOf(version: string): Era {
  return version >= MODERN_VERSION ? "modern" : "legacy";
}

/** The revision for the reply to `initialize`: the client's if we support it, else our newest legacy revision. */
export function negotiate(requested: unknown): string {
  return LEGACY_VERSIONS.find((version) => version === requested) ?? LEGACY_VERSIONS[0];
}

/** A modern request's description of its client. Used for display and feature selection only. */
export interface Envelope {
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly clientInfo?: JsonObject;
  readonly logLevel?: string;
}

export type Verdict =
  | { readonly era: "legacy" }
  | { readonly era: "modern"; readonly envelope: Envelope }
  | { readonly era: "refused"; readonly error: RpcError };

/** The era of an incoming request or notification. The body decides; the HTTP version header only cross-checks it. */
export function classifyIncoming(method: string, params: JsonObject | undefined, headerVersion?: string): Verdict {
  const meta = isObject(params?.["_meta"]) ? params["_meta"] : {};
  const claimed = meta[META.version];
  const capabilities = meta[META.clientCapabilities];
  const modernHeader = headerVersion !== undefined && eraOf(headerVersion) === "modern";
  const modernEnvelope = typeof claimed === "string" && eraOf(claimed) === "modern" && isObject(capabilities);
  if (method === "initialize" && !modernEnvelope) {
    // `initialize` is the legacy handshake, unless the request has a complete modern envelope.
    if (!modernHeader) return { era: "legacy" };
    return refused(RPC.headerMismatch, `\`initialize\` does not exist in revision ${headerVersion}`);
  }
  if (claimed === undefined) {
    if (!modernHeader) return { era: "legacy" };
    return refused(RPC.invalidParams, `Missing in params._meta: ${META.version}, ${META.clientCapabilities}`);
  }
  if (typeof claimed !== "string") return refused(RPC.invalidParams, `${META.version} must be a string`);
  const known = claimed === MODERN_VERSION;
  if (known && !isObject(capabilities)) {
    return refused(RPC.invalidParams, `Missing in params._meta: ${META.clientCapabilities}`);
  }
  if (headerVersion !== undefined && headerVersion !== claimed) {
    return refused(RPC.headerMismatch, `MCP-Protocol-Version is ${headerVersion}, the body says ${claimed}`);
  }
  if (!known || !isObject(capabilities)) {
    const data = { supported: SUPPORTED_VERSIONS, requested: claimed };
    return refused(RPC.unsupportedVersion, `Protocol version ${claimed} is not supported`, data);
  }
  const clientInfo = meta[META.clientInfo];
  const logLevel = meta[META.logLevel];
  return {
    era: "modern",
    envelope: {
      version: claimed,
      capabilities,
      ...(isObject(clientInfo) ? { clientInfo } : {}),
      ...(typeof logLevel === "string" ? { logLevel } : {}),
    },
  };
}

function refused(code: number, message: string, data?: unknown): Verdict {
  return { era: "refused", error: { code, message, ...(data === undefined ? {} : { data }) } };
}

export interface OutgoingMeta {
  /** The caller's `_meta`, if it sent one. */
  readonly from: unknown;
  /** The era of the server. */
  readonly era: Era;
  readonly clientInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly logLevel?: string;
  /** Our own token, if the caller wants progress. */
  readonly progressToken?: number;
}

/** The `_meta` of a forwarded request: the caller's own keys stay, envelope and progress token are replaced. */
export function outgoingMeta({ from, era, clientInfo, capabilities, logLevel, progressToken }: OutgoingMeta) {
  const given = Object.entries(isObject(from) ? from : {});
  const meta: Record<string, unknown> = Object.fromEntries(given.filter(([key]) => !HOP_KEYS.includes(key)));
  if (progressToken !== undefined) meta["progressToken"] = progressToken;
  if (era === "modern") {
    meta[META.version] = MODERN_VERSION;
    meta[META.clientInfo] = clientInfo;
    meta[META.clientCapabilities] = capabilities;
    if (logLevel !== undefined) meta[META.logLevel] = logLevel;
  }
  return Object.keys(meta).length === 0 ? undefined : meta;
}

/** A legacy client's capabilities for a modern server, without tasks and `roots.listChanged`, which changed their meaning. */
export function modernCapabilities({ tasks: _tasks, roots, ...rest }: JsonObject): JsonObject {
  if (!isObject(roots)) return rest;
  const { listChanged: _listChanged, ...otherRoots } = roots;
  return { ...rest, roots: otherRoots };
}

const CACHEABLE: readonly string[] = [
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
];

/** A server's reply in the form of the client's era. */
export function adaptReply(reply: Reply, method: string, to: Era): Reply {
  if (reply.ok) return { ok: true, result: adaptResult(reply.result, method, to) };
  const { value } = reply.error;
  if (to === "legacy" || !isObject(value) || value["code"] !== RESOURCE_NOT_FOUND) return reply;
  // The modern era has no code for this.
  return { ok: false, error: edited(reply.error, value, { code: RPC.invalidParams }) };
}

const RESOURCE_NOT_FOUND = -32002;

/** Adds the members that a modern result needs and removes those that a legacy one must not have. Otherwise keeps the bytes. */
export function adaptResult(result: Raw, method: string, to: Era): Raw {
  if (!isObject(result.value)) return result;
  return to === "modern" ? toModern(result, result.value, method) : toLegacy(result, result.value);
}

function toModern(result: Raw, value: JsonObject, method: string): Raw {
  const missing: Record<string, unknown> = {};
  const { resultType = "complete" } = value;
  if (!Object.hasOwn(value, "resultType")) missing["resultType"] = resultType;
  // No caching: clients learn of changes through their subscription.
  if (resultType === "complete" && CACHEABLE.includes(method) && !Object.hasOwn(value, "ttlMs")) {
    Object.assign(missing, { ttlMs: 0, cacheScope: "private" });
  }
  return Object.keys(missing).length === 0 ? result : edited(result, value, missing);
}

function toLegacy(result: Raw, value: JsonObject): Raw {
  if (!Object.hasOwn(value, "resultType")) return result;
  const changes: Record<string, unknown> = { resultType: undefined, ttlMs: undefined, cacheScope: undefined };
  const meta = value["_meta"];
  if (isObject(meta) && Object.hasOwn(meta, META.serverInfo)) {
    const { [META.serverInfo]: _, ...rest } = meta;
    changes["_meta"] = Object.keys(rest).length === 0 ? undefined : rest;
  }
  return edited(result, value, changes);
}

function edited(result: Raw, value: JsonObject, changes: Readonly<Record<string, unknown>>): Raw {
  const json = Object.entries(changes).map(([key, change]) => [
    key,
    change === undefined ? undefined : JSON.stringify(change),
  ]);
  return { bytes: editObject(result.bytes, Object.fromEntries(json)), value: { ...value, ...changes } };
}
