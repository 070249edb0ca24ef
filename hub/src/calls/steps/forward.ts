// The last step: sends the request to its server. Each attempt has a separate span if the call is traced.

import { toHubError } from "../../errors.ts";
import type { Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { Call, Next } from "../call.ts";

export function forward({ target, request, span }: Call): Promise<Reply> {
  return span === undefined ? target.forward(request) : forwardTraced(target, request, span.forward());
}

async function forwardTraced(
  target: Call["target"],
  request: Call["request"],
  trace: ReturnType<NonNullable<Call["span"]>["forward"]>,
): Promise<Reply> {
  try {
    const reply = await target.forward({ ...request, trace });
    trace.end({ reply });
    return reply;
  } catch (thrown) {
    trace.end({ error: toHubError(thrown) });
    throw thrown;
  }
}

/**
 * A modern server may answer that it needs input from the client first. For the caller it stays one call: the request is sent
 * again with the input until the answer is final. Each round passes the breaker and may be retried.
 */
export async function inputRounds(call: Call, next: Next): Promise<Reply> {
  const { request } = call;
  let reply = await next(call);
  for (let input = request.responder?.next?.(reply); input !== undefined; input = request.responder?.next?.(reply)) {
    call.request = { ...request, params: await input };
    reply = await next(call);
  }
  return reply;
}
