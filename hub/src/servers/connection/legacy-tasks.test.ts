import { describe, expect, it } from "vitest";
import { raw, rawParams, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import { LegacyTasks } from "./legacy-tasks.ts";
import type { ForwardRequest } from "./upstream.ts";

const TEN_MINUTES = 600_000;

/** The time limits of the two requests of a task tool call. */
async function limitsOf(call: Pick<ForwardRequest, "timeoutMs" | "leftMs">, requestMs = 30_000) {
  const limits: Record<string, number | undefined> = {};
  const send = async ({ method, timeoutMs, leftMs }: ForwardRequest): Promise<Reply> => {
    limits[method] = leftMs ?? timeoutMs;
    return { ok: true, result: raw(method === "tools/call" ? { task: { taskId: "1" } } : { content: [] }) };
  };
  await new LegacyTasks(requestMs).call({ method: "tools/call", params: rawParams({ name: "slow" }), ...call }, send);
  return limits;
}

describe("RS-1 the time limit of a tool that runs only as a task", () => {
  it.each([
    ["is ten minutes", 30_000, TEN_MINUTES],
    ["is the server's own limit if that is longer", 3_600_000, 3_600_000],
  ])("RS-1 %s without a limit of the caller", async (_what, requestMs, expected) => {
    expect(await limitsOf({}, requestMs)).toEqual({ "tools/call": undefined, "tasks/result": expected });
    // The call has waited for a start, which shortens only the request that creates the task.
    expect(await limitsOf({ leftMs: 900 }, requestMs)).toEqual({ "tools/call": 900, "tasks/result": expected });
  });

  it("RS-1 is the caller's limit, for the creation and the result together", async () => {
    const { "tasks/result": left = 0 } = await limitsOf({ timeoutMs: 5000 });
    expect(left).toBeGreaterThan(4000);
    expect(left).toBeLessThanOrEqual(5000);
    const { "tasks/result": rest = 0 } = await limitsOf({ timeoutMs: 5000, leftMs: 1000 });
    expect(rest).toBeLessThanOrEqual(1000);
  });
});
