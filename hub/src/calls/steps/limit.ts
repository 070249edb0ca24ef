// Limits concurrent requests and requests per second: of the hub over all servers, and of single tools. The servers limit
// themselves.

import type { CallLimits } from "../../servers/resilience/call-limits.ts";
import type { Supervisor } from "../../servers/supervisor.ts";
import type { Call, Next, Step } from "../call.ts";

const MAX_WAIT_MS = 30_000;

export function limit(limits: CallLimits): Step {
  return (call, next) => within(limits, call, next);
}

/** Most tools have none. */
export function limitTool(supervisor: Pick<Supervisor, "has" | "get">): Step {
  return (call, next) => {
    const { toolCall, server } = call;
    const isKnown = toolCall !== undefined && supervisor.has(server);
    const limits = isKnown ? supervisor.get(server).toolLimits.of(toolCall.name) : undefined;
    return limits === undefined ? next(call) : within(limits, call, next);
  };
}

async function within(limits: CallLimits, call: Call, next: Next) {
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
}
