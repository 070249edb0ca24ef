// Holds a call until a person approves it, if its tool needs that. The wait counts neither for the server nor against any timeout
// of it, and takes no slot.

import { toHubError } from "../../errors.ts";
import type { Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { Approvals } from "../call-approval/approvals.ts";
import type { Call, Next, Step, ToolCall } from "../call.ts";

export function approval(approvals: Approvals): Step {
  return (call, next) => {
    const { toolCall } = call;
    if (toolCall?.approval === undefined) return next(call);
    return hold(approvals, call, { toolCall, needed: toolCall.approval, next });
  };
}

interface Held {
  readonly toolCall: ToolCall;
  readonly needed: NonNullable<ToolCall["approval"]>;
  readonly next: Next;
}

async function hold(approvals: Approvals, call: Call, { toolCall, needed, next }: Held): Promise<Reply> {
  if (!approvals.rounds.take(toolCall)) {
    const heldAt = performance.now();
    try {
      await approvals.wait(call, toolCall, needed);
    } finally {
      call.startedAt = performance.now();
      call.heldMs = call.startedAt - heldAt;
    }
  }
  try {
    const reply = await next(call);
    approvals.rounds.answered(toolCall, reply);
    return reply;
  } catch (thrown) {
    if (toHubError(thrown).loginUrl !== undefined) approvals.rounds.needsLogin(toolCall);
    throw thrown;
  }
}
