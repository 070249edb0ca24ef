// A small MCP server that knows all its answers itself: its methods as a table, the opening exchange of both eras included.

import { adaptResult, META, SUPPORTED_VERSIONS } from "./era.ts";
import type { JsonObject } from "./json.ts";
import { failure, RPC, success, type Reply } from "./jsonrpc.ts";
import type { Exchange, Service } from "./server.ts";

export interface SimpleServiceOptions {
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  /** By method. What one throws is told to the client as an internal error, without its words. */
  readonly methods: Readonly<Record<string, (params: JsonObject, exchange: Exchange) => Reply | Promise<Reply>>>;
}

export function simpleService({ serverInfo, capabilities, instructions, methods }: SimpleServiceOptions): Service {
  const said = instructions === undefined ? {} : { instructions };
  const answer = (exchange: Exchange): Reply | Promise<Reply> => {
    const { method, params } = exchange.request;
    const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (run !== undefined) return run(params?.value ?? {}, exchange);
    if (exchange.era === "modern" && method === "server/discover") {
      const _meta = { [META.serverInfo]: serverInfo };
      return success({ supportedVersions: SUPPORTED_VERSIONS, capabilities, ...said, _meta });
    }
    if (exchange.era === "legacy" && method === "initialize") {
      return success({ protocolVersion: exchange.session?.version, capabilities, serverInfo, ...said });
    }
    if (exchange.era === "legacy" && method === "ping") return success({});
    return failure({ code: RPC.methodNotFound, message: `There is no method ${method} here` });
  };
  return {
    handle: async (exchange) => {
      const reply = await Promise.resolve(exchange)
        .then(answer)
        .catch(() => failure({ code: RPC.internalError, message: "Something unexpected went wrong" }));
      const { method } = exchange.request;
      return reply.ok ? { ok: true, result: adaptResult(reply.result, method, exchange.era) } : reply;
    },
    onNotification: () => undefined,
    onSession: () => undefined,
    onSessionEnd: () => undefined,
  };
}
