// Span attributes by OpenTelemetry's conventions for MCP, which still change: only this file spells them. Arguments and
// results are never attributes.

import { isObject, type JsonObject } from "../lib/json/json.ts";
import { MODERN_VERSION } from "../protocol/revisions/era.ts";
import type { Attributes } from "./span.ts";
import type { Arrival, SentFacts, TraceOutcome } from "./tracing.ts";

const MAX_CHARS = 1024;

/** The target of a request, by the receiver's name for it. */
export function askedFor(method: string, params: JsonObject, redact: (text: string) => string): Attributes {
  const ref = isObject(params["ref"]) ? params["ref"] : {};
  const name = textOf(params["name"]);
  const uri = textOf(params["uri"]) ?? textOf(ref["uri"]);
  const isCall = method === "tools/call";
  return {
    "mcp.method.name": method,
    "gen_ai.operation.name": isCall ? "execute_tool" : undefined,
    "gen_ai.tool.name": isCall ? name : undefined,
    "gen_ai.prompt.name": method === "prompts/get" ? name : textOf(ref["name"]),
    // A filled-in URI template may contain a key.
    "mcp.resource.uri": uri === undefined ? undefined : redact(uri).slice(0, MAX_CHARS),
  };
}

/** Like `tools/call get_weather`: low cardinality, so that spans can be grouped by name. */
export function spanName(asked: Attributes): string {
  const target = asked["gen_ai.tool.name"] ?? asked["gen_ai.prompt.name"];
  return target === undefined ? `${asked["mcp.method.name"]}` : `${asked["mcp.method.name"]} ${target}`;
}

export function route(server: string, group: string | undefined): Attributes {
  return { "plugboard.server": server, "plugboard.group": group };
}

export function arrivedBy(arrival: Arrival | undefined): Attributes {
  const { request, session, era, transport } = arrival ?? {};
  return {
    "jsonrpc.request.id": request === undefined ? undefined : String(request.id).slice(0, MAX_CHARS),
    "mcp.protocol.version": era === "modern" ? MODERN_VERSION : session?.version,
    // A stdio session has no id.
    "mcp.session.id": transport === undefined || transport === "stdio" ? undefined : session?.id,
    "network.transport": transport === undefined ? undefined : NETWORK[transport],
  };
}

/** Without the session id of a remote server, which is a credential. */
export function sentBy({ id, version, transport, address }: SentFacts): Attributes {
  return {
    "jsonrpc.request.id": String(id),
    "mcp.protocol.version": version,
    "network.transport": NETWORK[transport],
    "server.address": address?.host,
    "server.port": address?.port,
  };
}

const NETWORK = { stdio: "pipe", http: "tcp", sse: "tcp", websocket: "tcp" } as const;

export interface Failure {
  readonly attributes: Attributes;
  /** Only messages of the hub: a server's may quote anything. */
  readonly message?: string;
}

/** Why a request failed; undefined if it did not. */
export function failureOf(outcome: TraceOutcome): Failure | undefined {
  if ("error" in outcome) {
    const { kind, message } = outcome.error;
    return { attributes: { "error.type": kind }, message };
  }
  const { reply } = outcome;
  if (!reply.ok) {
    const code = isObject(reply.error.value) ? String(reply.error.value["code"]) : "_OTHER";
    return { attributes: { "error.type": code, "rpc.response.status_code": code } };
  }
  const isError = isObject(reply.result.value) && reply.result.value["isError"] === true;
  return isError ? { attributes: { "error.type": "tool_error" } } : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value.slice(0, MAX_CHARS) : undefined;
}
