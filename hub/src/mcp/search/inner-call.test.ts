import { expect, it } from "vitest";
import { readMessage } from "../../protocol/rpc/jsonrpc.ts";
import type { IncomingRequest } from "../../protocol/serve/service.ts";
import { answerMetaCall } from "./meta-calls.ts";
import { Catalog } from "../../catalog/catalog.ts";
import { success } from "../../protocol/rpc/jsonrpc.ts";

const ARGUMENTS = '{ "n": 12345678901234567890, "x": 1.0 }';

function incomingOf(params: string): IncomingRequest {
  const message = readMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`));
  if (message.kind !== "request") throw new Error("not a request");
  return {
    request: message,
    era: "modern",
    transport: "http",
    session: undefined,
    capabilities: {},
    logLevel: undefined,
    headers: { "mcp-method": "tools/call", "mcp-name": "call_tool", authorization: "Bearer x" },
    signal: new AbortController().signal,
    notify: () => undefined,
  };
}

async function innerOf(params: string): Promise<IncomingRequest | undefined> {
  const group = Catalog.build({ servers: [], groups: [] }, new Map()).group();
  let inner: IncomingRequest | undefined;
  const callTool = (incoming: IncomingRequest) => {
    inner = incoming;
    return Promise.resolve(success({}));
  };
  await answerMetaCall("call_tool", incomingOf(params), group, { callTool });
  return inner;
}

it("RG-3 call_tool forwards the client's bytes, and all other members of its request", async () => {
  const inner = await innerOf(
    `{"name":"call_tool","_meta":{"progressToken":7},"task":{"ttl":1},"arguments":{"name":"a","arguments":${ARGUMENTS}}}`,
  );
  expect(inner?.request.params?.bytes.toString()).toContain(ARGUMENTS);
  expect(inner?.request.params?.value).toEqual({
    name: "a",
    // oxlint-disable-next-line no-loss-of-precision -- as JSON.parse reads it
    arguments: { n: 12345678901234567890, x: 1 },
    _meta: { progressToken: 7 },
    task: { ttl: 1 },
  });
});

it("RG-3 of arguments that are given twice, those that were checked are forwarded", async () => {
  const twice = '{"name":"call_tool","arguments":{"name":"a","arguments":{"v":1},"arguments":{"v":2}}}';
  const inner = await innerOf(twice);
  expect(inner?.request.params?.value["arguments"]).toEqual({ v: 2 });
  expect(JSON.parse(inner?.request.params?.bytes.toString() ?? "").arguments).toEqual({ v: 2 });
});

it("RG-3 without arguments, none are forwarded, and headers about the outer call are not taken for the inner one's", async () => {
  const inner = await innerOf('{"name":"call_tool","arguments":{"name":"a"}}');
  expect(inner?.request.params?.value).toEqual({ name: "a" });
  expect(inner?.headers).toMatchObject({ "mcp-method": undefined, "mcp-name": undefined, authorization: "Bearer x" });
});
