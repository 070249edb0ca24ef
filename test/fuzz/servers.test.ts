// Invalid output of servers during a call: real processes of both eras, called by clients of both. In this process, so that no
// uncaught error is missed. The callers get an answer, and other servers are not affected.

import { Agent } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fixture } from "../support/hub.ts";
import { openInProcess, type InProcess } from "../support/in-process.ts";
import { Mutator, type Random } from "../support/mutator.ts";
import { answerOf, connect, modern, type HttpResult } from "../support/rpc.ts";
import { FUZZ_MS } from "./fuzz.ts";
import { fuzzWire } from "./wire.ts";

const ERAS = ["legacy", "modern"] as const;

let inProcess: InProcess;
let url: string;
let session: Awaited<ReturnType<typeof connect>>;
const agent = new Agent({ keepAlive: true });

beforeAll(async () => {
  const saying = Object.fromEntries(ERAS.map((era) => [era, fixture("says", era)]));
  inProcess = await openInProcess({ ...saying, honest: fixture("echo") });
  url = `${await inProcess.hub.listen({ host: "127.0.0.1", port: 0 })}/mcp`;
  await inProcess.hub.start();
  // A client without capabilities: a call that asks its client would wait for a reply.
  session = await connect(url, "2025-11-25", agent);
});

afterAll(async () => {
  agent.destroy();
  expect(await inProcess.end()).toEqual([]);
});

const said = (method: string, params: object = {}) => ({ jsonrpc: "2.0", method, params });
const asked = (method: string, params: object = {}) => ({ jsonrpc: "2.0", id: 7, method, params });
const INPUTS = { q: { method: "elicitation/create", params: { message: "?", requestedSchema: { type: "object" } } } };
const CORPUS = [
  said("notifications/progress", { progressToken: "@token", progress: 1, total: 2, message: "ä\\" }),
  said("notifications/message", { level: "info", logger: "x", data: { a: [1] } }),
  said("notifications/tools/list_changed"),
  said("notifications/resources/updated", { uri: "test://static" }),
  said("notifications/cancelled", { requestId: 7, reason: "x" }),
  said("notifications/tasks/status", { taskId: "t", status: "working", ttl: 1000, pollInterval: 10 }),
  said("notifications/elicitation/complete", { elicitationId: "e" }),
  asked("ping"),
  asked("roots/list"),
  asked("sampling/createMessage", { messages: [{ role: "user", content: { type: "text", text: "x" } }], maxTokens: 5 }),
  asked("elicitation/create", { mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } }),
  { jsonrpc: "2.0", id: "@id", result: { content: [{ type: "text", text: "early" }], structuredContent: { a: 1 } } },
  { jsonrpc: "2.0", id: "@id", result: { resultType: "input_required", inputRequests: INPUTS, requestState: "s" } },
  { jsonrpc: "2.0", id: "@id", result: { task: { taskId: "t", status: "working", createdAt: "", ttl: 1000 } } },
  { jsonrpc: "2.0", id: "@id", error: { code: -32042, message: "x", data: { elicitations: [] } } },
  { jsonrpc: "2.0", id: 999_999, result: {} },
  [said("notifications/message", { level: "info", data: 1 }), asked("ping")],
].map((message) => JSON.stringify(message));

function call(server: string, input: Buffer, random: Random): Promise<HttpResult> {
  const params = { name: `${server}__say`, arguments: { base64: input.toString("base64") } };
  if (random(2) === 0) return modern(url, "tools/call", params, {}, agent);
  return session.send("tools/call", { ...params, _meta: { progressToken: random(1000) } });
}

async function requireHonest(): Promise<void> {
  const { result } = await session.request("tools/call", { name: "honest__echo", arguments: { text: "ok" } });
  expect(result.content).toEqual([{ type: "text", text: "ok" }]);
}

it.each(ERAS)("SE-5 T20 F12 any output of a %s server leaves the hub working", { timeout: FUZZ_MS }, async (era) => {
  const before = inProcess.hub.supervisor.get(era).pid;
  const missing = await fuzzWire({
    name: `${era} server`,
    quickRuns: 1500,
    maxRuns: 100_000,
    expected: ["said", "failed"],
    inputs: (random) => {
      const mutator = new Mutator(CORPUS, random);
      const line = () => mutator.next();
      return { next: () => Buffer.concat([line(), Buffer.from("\n"), random(3) === 0 ? line() : Buffer.alloc(0)]) };
    },
    freshen: requireHonest,
    send: async (input, random) => {
      const { status, body } = await call(era, input, random);
      if (status >= 500) return `${status}: ${body}`;
      const { result, error } = answerOf(body);
      return error === undefined && result !== undefined ? "said" : "failed";
    },
  });
  await requireHonest();
  // No server was restarted.
  expect(inProcess.hub.supervisor.get(era).pid).toBe(before);
  expect(missing).toEqual([]);
});
