// JSON-RPC errors that the bridge itself sends to its client.

import { HubError } from "../errors.ts";
import { HttpStatusError } from "../protocol/connect/http-failure.ts";
import { failure, writeReply, type Id, type Reply } from "../protocol/rpc/jsonrpc.ts";

export function errorReply(id: Id | null, code: number, message: string): Buffer {
  return writeReply(id, failure({ code, message }));
}

/** The reply to a request that the endpoint did not answer. */
export function toReply(error: HubError): Reply {
  if (error instanceof HttpStatusError && error.rpcError !== undefined) return failure(error.rpcError);
  const isUnknown = error.delivery === "unknown";
  const message = isUnknown ? `${error.message}: it is unknown whether the request was executed` : error.message;
  return failure({ code: error.meaning.rpc, message, data: { ...error.toJSON(), message } });
}

/** The endpoint answered and rejected the request. */
export function isRefusal(error: HubError | undefined): boolean {
  return error instanceof HttpStatusError && error.rpcError !== undefined;
}
