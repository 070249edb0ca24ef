// Messages over our own stdin and stdout: invalid ones, requests to the client, and batches.

import { once } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toAbortSignal } from "../../lib/cancellation.ts";
import { META } from "../revisions/era.ts";
import { failure, RPC, success, type Reply } from "../rpc/jsonrpc.ts";
import type { IncomingRequest } from "./service.ts";
import { envelope, HELLO, start } from "../../../../test/support/stdio-server.ts";

describe("junk", () => {
  it.each([
    ["no JSON", "hello", null, RPC.parseError],
    ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"x"}]', null, RPC.invalidRequest],
    ["no version", '{"id":5,"method":"x"}', 5, RPC.invalidRequest],
    ["a bad id", '{"jsonrpc":"2.0","id":1.5,"method":"x"}', null, RPC.invalidRequest],
    [
      "65 levels",
      `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${"[".repeat(63)}${"]".repeat(63)}}}`,
      null,
      RPC.invalidRequest,
    ],
    ["invalid UTF-8", Buffer.from([0xff, 0xfe, 0x0a]), null, RPC.parseError],
  ])("SE-5 gets an error, and the next request its reply: %s", async (_, junk, id, code) => {
    const { input, request, answers, end } = start();
    input.write(junk);
    if (typeof junk === "string") input.write("\n");
    request(9, "x");
    await end();
    expect(answers).toHaveLength(2);
    expect(answers[0]).toMatchObject({ id, error: { code } });
    expect(answers[1]).toMatchObject({ id: 9, result: {} });
  });

  it("F06 blank lines and unmatched replies get no error", async () => {
    const { input, answers, end } = start();
    input.write(
      '\n\r\n\n{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}\n',
    );
    await end();
    expect(answers).toEqual([]);
  });

  it("SE-5 any bytes get JSON replies, and the next request works", async () => {
    const noise = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 60 }),
        fc.string({
          unit: fc.constantFrom("{", "}", "[", "]", '"', ":", ",", "\\", " ", "\n", "0", "a", "n"),
          maxLength: 60,
        }),
        fc.constantFrom('{"jsonrpc":"2.0","id":1,"method":"initialize"}\n', '{"jsonrpc":"2.0","id":', "\n"),
      ),
      { maxLength: 10 },
    );
    await fc.assert(
      fc.asyncProperty(noise, async (chunks) => {
        const { input, answers, end } = start();
        for (const chunk of chunks) input.write(Buffer.from(chunk));
        input.write('\n{"jsonrpc":"2.0","id":"last","method":"x"}\n');
        await end();
        expect(answers.filter(({ id }) => id === "last")).toHaveLength(1);
      }),
      { numRuns: 300 },
    );
  });
});

describe("requests to a client", () => {
  const asking = async ({ ask, capabilities, request }: IncomingRequest) => {
    if (request.method === "initialize") return success({});
    if (ask === undefined) return success({ capabilities });
    const reply = await ask("roots/list", undefined).catch((error) => success(error.kind));
    return success({ capabilities, said: reply.ok ? reply.result.value : reply.error.value });
  };

  it("GR-7 are sent and get their replies on the same connection", async () => {
    const { answers, request, write, until, end } = start({ handle: asking });
    request(0, "initialize", HELLO);
    request(1, "x");
    await until(() => answers.length === 2);
    expect(answers).toContainEqual({ jsonrpc: "2.0", id: 1, method: "roots/list" });
    write({ jsonrpc: "2.0", id: 1, error: { code: -1, message: "no" } });
    await until(() => answers.length === 3);
    expect(answers[2]).toMatchObject({
      id: 1,
      result: { capabilities: { roots: {} }, said: { code: -1, message: "no" } },
    });
    await end();
  });

  it("GR-7 are rejected at the end of input", async () => {
    const { answers, request, until, end } = start({ handle: asking });
    request(0, "initialize", HELLO);
    request(1, "x");
    await until(() => answers.length === 2);
    await end();
    expect(answers[2]).toMatchObject({ id: 1, result: { said: "Cancelled" } });
  });

  it("GR-7 do not exist for modern clients", async () => {
    const { answers, request, end } = start({ handle: asking });
    request(1, "x", { _meta: { ...envelope, [META.clientCapabilities]: { sampling: {} } } });
    await end();
    expect(answers).toMatchObject([{ id: 1, result: { capabilities: { sampling: {} } } }]);
  });
});

describe("batches", () => {
  const rpc = (id: unknown, method: string) => ({ jsonrpc: "2.0", id, method });

  it("CL-9 get their replies as one array, when the last request is done", async () => {
    let finish: (reply: Reply) => void = () => undefined;
    const { answers, request, write, until, end, notified } = start({
      handle: async ({ request: { method } }) => {
        if (method === "last") finish(success("first"));
        return method === "first" ? new Promise((resolve) => (finish = resolve)) : success(method);
      },
    });
    request(0, "initialize", { ...HELLO, protocolVersion: "2025-03-26" });
    await until(() => answers.length === 1);
    write([rpc(1, "first"), { jsonrpc: "2.0", method: "n" }, rpc(2, "last"), 7]);
    await until(() => answers.length === 2);
    expect(answers[1]).toEqual(
      expect.arrayContaining([
        { jsonrpc: "2.0", id: 1, result: "first" },
        { jsonrpc: "2.0", id: 2, result: "last" },
        expect.objectContaining({ id: null, error: expect.objectContaining({ code: RPC.invalidRequest }) }),
      ]),
    );
    expect(notified).toEqual([expect.stringMatching(/^n [0-9a-f-]{36}$/)]);
    await end();
  });

  it("CL-9 a cancelled member has no reply, and does not delay the others", async () => {
    const { answers, request, write, notify, until, end } = start({
      handle: async ({ request: { method }, signal }) => {
        if (method !== "wait") return success(method);
        await once(toAbortSignal(signal), "abort");
        return failure({ code: 1, message: "cancelled" });
      },
    });
    request(0, "initialize", { ...HELLO, protocolVersion: "2024-11-05" });
    write([rpc(1, "wait"), rpc(2, "x")]);
    notify("notifications/cancelled", { requestId: 1 });
    await until(() => answers.length === 2);
    expect(answers[1]).toEqual([{ jsonrpc: "2.0", id: 2, result: "x" }]);
    await end();
  });

  it.each(["2025-06-18", "2025-11-25"])("CL-9 are refused for a client of %s", async (protocolVersion) => {
    const { answers, request, write, end } = start();
    write([rpc(1, "x")]);
    request(0, "initialize", { ...HELLO, protocolVersion });
    write([rpc(1, "x")]);
    await end();
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [null, RPC.invalidRequest],
      [null, RPC.invalidRequest],
      [0, undefined],
    ]);
  });
});
