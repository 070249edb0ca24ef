// A small MCP server from a table of methods. Adds the handshake of both eras and `ping`.

import { adaptResult, META, SUPPORTED_VERSIONS } from "../revisions/era.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import { failure, RPC, success, type Reply } from "../rpc/jsonrpc.ts";
import type { IncomingRequest, Service } from "./service.ts";

export interface SimpleServiceOptions {
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  /** By method. If one throws, the client gets an internal error without details. */
  readonly methods: Readonly<Record<string, (params: JsonObject, incoming: IncomingRequest) => Reply | Promise<Reply>>>;
}

export function simpleService({ serverInfo, capabilities, instructions, methods }: SimpleServiceOptions): Service {
  const optional = instructions === undefined ? {} : { instructions };
  const answer = (incoming: IncomingRequest): Reply | Promise<Reply> => {
    const { method, params } = incoming.request;
    const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (run !== undefined) return run(params?.value ?? {}, incoming);
    if (incoming.era === "modern" && method === "server/discover") {
      const _meta = { [META.serverInfo]: serverInfo };
      return success({ supportedVersions: SUPPORTED_VERSIONS, capabilities, ...optional, _meta });
    }
    if (incoming.era === "legacy" && method === "initialize") {
      return success({ protocolVersion: incoming.session?.version, capabilities, serverInfo, ...optional });
    }
    if (incoming.era === "legacy" && method === "ping") return success({});
    return failure({ code: RPC.methodNotFound, message: `Method not found: ${method}` });
  };
  return {
    handle: async (incoming) => {
      const reply = await Promise.resolve(incoming)
        .then(answer)
        .catch(() => failure({ code: RPC.internalError, message: "Internal error" }));
      const { method } = incoming.request;
      return reply.ok ? { ok: true, result: adaptResult(reply.result, method, incoming.era) } : reply;
    },
    onNotification: () => undefined,
    onSession: () => undefined,
    onSessionEnd: () => undefined,
  };
}
