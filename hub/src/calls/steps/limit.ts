// Limits concurrent requests and requests per second of the hub, over all servers.

import type { CallLimits } from "../../servers/resilience/call-limits.ts";
import type { Step } from "../call.ts";

const MAX_WAIT_MS = 30_000;

export function limit(limits: CallLimits): Step {
  return async (call, next) => {
    const slot = limits.acquire({ signal: call.request.signal, limitMs: MAX_WAIT_MS });
    if (slot !== undefined) {
      await slot;
      call.startedAt = performance.now();
    }
    try {
      return await next(call);
    } finally {
      limits.release();
    }
  };
}
