// Opens a span for each request. Omitted from the chain if tracing is off.

import { toHubError } from "../../errors.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import type { Step } from "../call.ts";

export function trace(tracing: Tracing): Step {
  return async (call, next) => {
    const span = tracing.serve(call.toolCall ?? { ...call.request, server: call.server });
    call.span = span;
    try {
      const reply = await next(call);
      span.end({ reply });
      return reply;
    } catch (thrown) {
      span.end({ error: toHubError(thrown) });
      throw thrown;
    }
  };
}
