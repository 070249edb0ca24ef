// MCP over our own stdin and stdout: the era of a connection, replies, and the end of input.

import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { META, MODERN_VERSION } from "../revisions/era.ts";
import { failure, raw, RPC, success, type Reply } from "../rpc/jsonrpc.ts";
import type { IncomingRequest, Session } from "./service.ts";
import { envelope, HELLO, start, word } from "../../../../test/support/stdio-server.ts";

describe("the era of a connection", () => {
  const legacy = { method: "tools/list", params: {} };
  const modern = { method: "tools/list", params: { _meta: envelope } };
  const initialize = { method: "initialize", params: HELLO };
  const discover = { method: "server/discover", params: { _meta: envelope } };
  const bareDiscover = { method: "server/discover", params: {} };
  const broken = { method: "tools/list", params: { _meta: { [META.version]: MODERN_VERSION } } };
  const unknown = { method: "tools/list", params: { _meta: { ...envelope, [META.version]: "2099-01-01" } } };
  const modernInitialize = { method: "initialize", params: { ...HELLO, _meta: envelope } };

  it.each([
    ["initialize pins legacy", [initialize, legacy, modern], ["legacy", "legacy", RPC.invalidRequest]],
    ["so does anything without an envelope", [legacy, legacy, modern], ["legacy", "legacy", RPC.invalidRequest]],
    ["an enveloped request pins modern", [modern, modern, legacy], ["modern", "modern", RPC.invalidRequest]],
    ["and then there is no handshake", [modern, initialize], ["modern", RPC.invalidRequest]],
    [
      "discover answers and pins nothing: back to legacy",
      [discover, initialize, legacy],
      ["modern", "legacy", "legacy"],
    ],
    [
      "discover answers and pins nothing: on to modern",
      [discover, modern, legacy],
      ["modern", "modern", RPC.invalidRequest],
    ],
    ["discover without an envelope pins nothing either", [bareDiscover, modern], ["legacy", "modern"]],
    ["a legacy connection has no discover", [initialize, discover], ["legacy", RPC.invalidRequest]],
    ["a broken envelope pins nothing", [broken, initialize], [RPC.invalidParams, "legacy"]],
    ["an unknown revision pins nothing", [unknown, initialize], [RPC.unsupportedVersion, "legacy"]],
    ["a refused message changes nothing", [initialize, broken, legacy], ["legacy", RPC.invalidParams, "legacy"]],
    ["initialize in an envelope is a modern request", [modernInitialize, modern], ["modern", "modern"]],
    ["a second handshake is one", [initialize, initialize], ["legacy", "legacy"]],
  ])("CL-2 %s", async (_, messages, expected) => {
    const { request, answers, end } = start();
    messages.forEach(({ method, params }, index) => request(index, method, params));
    await end();
    expect(answers.toSorted((a, b) => Number(a.id) - Number(b.id)).map(word)).toEqual(expected);
  });

  it("CL-2 notifications before the first request do not decide it", async () => {
    const { notify, request, answers, end } = start();
    notify("notifications/initialized");
    notify("notifications/cancelled", { requestId: 7 });
    request(1, modern.method, modern.params);
    await end();
    expect(answers.map(word)).toEqual(["modern"]);
  });

  it("CL-2 initialize opens the session, a second one ends the first, the end of input ends the last", async () => {
    const { request, sessions, notify, notified, exchanges, end } = start();
    request(1, "initialize", HELLO);
    notify("notifications/initialized");
    request(2, "initialize", { protocolVersion: "1999-01-01" });
    await end();
    expect(sessions).toEqual(["+2025-06-18", "-2025-06-18", "+2025-11-25", "-2025-11-25"]);
    expect(notified).toEqual([expect.stringMatching(/^notifications\/initialized [0-9a-f-]{36}$/)]);
    expect(exchanges[0]?.session).toMatchObject({ clientInfo: { name: "c" }, capabilities: { roots: {} } });
    expect(exchanges[1]?.session).toMatchObject({ clientInfo: undefined, capabilities: {} });
  });

  it("CL-2 a modern request has its own log level, a legacy one its session's", async () => {
    const modernOne = start();
    modernOne.request(1, "x", { _meta: { ...envelope, [META.logLevel]: "debug" } });
    await modernOne.end();
    const legacyOne = start({
      handle: async ({ session, logLevel }) => {
        if (session !== undefined) session.logLevel = "error";
        return success({ logLevel });
      },
    });
    legacyOne.request(1, "initialize", HELLO);
    legacyOne.request(2, "x");
    await legacyOne.end();
    expect([...modernOne.answers, ...legacyOne.answers].map(({ result }) => result)).toEqual([
      { era: "modern", logLevel: "debug" },
      {},
      { logLevel: "error" },
    ]);
  });
});

describe("requests", () => {
  it("CL-6 run concurrently and get their replies as they finish; text and number ids differ", async () => {
    const finish = new Map<unknown, () => void>();
    const { request, answers, until, end } = start({
      handle: ({ request: { id } }) => new Promise((resolve) => finish.set(id, () => resolve(success({ id })))),
    });
    for (const id of [1, "1", 2]) request(id, "x");
    await new Promise(setImmediate);
    for (const id of [2, "1", 1]) finish.get(id)?.();
    await until(() => answers.length === 3);
    expect(answers.map(({ id, result }) => [id, result])).toEqual([2, "1", 1].map((id) => [id, { id }]));
    await end();
  });

  it("F11 an id in use is refused, and free again afterwards", async () => {
    let finish = () => {};
    const { request, answers, until, sessions, end } = start({
      handle: () => new Promise((resolve) => (finish = () => resolve(success({})))),
    });
    request(1, "x");
    request(1, "initialize", HELLO);
    await until(() => answers.length === 1);
    expect(answers[0]).toMatchObject({
      id: 1,
      error: { code: RPC.invalidRequest, message: "Request id 1 is still in use" },
    });
    // A refused request has no effect.
    expect(sessions).toEqual([]);
    finish();
    await until(() => answers.length === 2);
    request(1, "x");
    await new Promise(setImmediate);
    finish();
    await until(() => answers.length === 3);
    expect(answers.slice(1)).toEqual([1, 2].map(() => ({ jsonrpc: "2.0", id: 1, result: {} })));
    await end();
  });

  it("CL-3 a cancelled request is aborted and gets no reply", async () => {
    const { request, notify, answers, end, exchanges } = start({ handle: untilAborted });
    request("a", "x");
    request("b", "x");
    notify("notifications/cancelled", { requestId: "a" });
    notify("notifications/cancelled", { requestId: "b" });
    await end();
    expect(exchanges.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    expect(answers).toEqual([]);
  });

  it.each([[1], [undefined], [null], [{}], ["nobody"]])(
    "CL-3 F11 cancelling %j cancels no other request",
    async (requestId) => {
      const { request, notify, answers, end, exchanges } = start();
      request("1", "x");
      notify("notifications/cancelled", { requestId });
      await end();
      expect(exchanges.map(({ signal }) => signal.aborted)).toEqual([false]);
      expect(answers).toHaveLength(1);
    },
  );

  it("GR-7 notifications of a request come before its reply", async () => {
    const { request, answers, end } = start({
      handle: async (incoming) => {
        incoming.notify("notifications/progress", raw({ progressToken: 1, progress: 1 }));
        incoming.notify("notifications/x");
        return success({});
      },
    });
    request(1, "x");
    await end();
    expect(answers.map(({ method, id }) => method ?? id)).toEqual(["notifications/progress", "notifications/x", 1]);
  });

  it("GR-7 a session may send unsolicited notifications", async () => {
    let session: Session | undefined;
    const { request, answers, until, end } = start({
      handle: async (incoming) => {
        session = incoming.session;
        return success({});
      },
    });
    request(1, "initialize", HELLO);
    await until(() => answers.length === 1);
    session?.notify("notifications/tools/list_changed");
    await until(() => answers.length === 2);
    expect(answers[1]).toEqual({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    await end();
  });
});

const untilAborted = ({ signal }: IncomingRequest): Promise<Reply> =>
  new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(failure({ code: -31499, message: "cancelled" })), { once: true }),
  );

describe("the end of input", () => {
  it("CL-1 earlier requests still get their replies, which are written before it resolves", async () => {
    const finish: (() => void)[] = [];
    const { input, output, server, answers } = start({
      handle: () => new Promise((resolve) => finish.push(() => resolve(success({})))),
    });
    input.write('{"jsonrpc":"2.0","id":1,"method":"x"}\n');
    input.end('{"jsonrpc":"2.0","id":2,"method":"x"}');
    await once(input, "end");
    for (const answer of finish) answer();
    await server.ended;
    // Like the command: output that is not written by now is lost.
    output.end();
    expect(answers.map(({ id }) => id)).toEqual([1, 2]);
  });

  it("GR-7 a subscription ends with a reply, at the end of input and when it is cancelled", async () => {
    const subscribe = ({ signal }: IncomingRequest): Promise<Reply> =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve(success({ ended: true })), { once: true }),
      );
    const { request, notify, answers, until, end } = start({ handle: subscribe });
    request("a", "subscriptions/listen", { _meta: envelope });
    request("b", "subscriptions/listen", { _meta: envelope });
    notify("notifications/cancelled", { requestId: "a" });
    await until(() => answers.length === 1);
    await end();
    expect(answers.map(({ id, result }) => [id, result])).toEqual([
      ["a", { ended: true }],
      ["b", { ended: true }],
    ]);
  });

  it("F01 an input error has the same effect", async () => {
    const { input, server, request, sessions, answers } = start();
    request(1, "initialize", HELLO);
    await new Promise(setImmediate);
    input.destroy(new Error("EIO"));
    await server.ended;
    expect([sessions, answers.length]).toEqual([["+2025-06-18", "-2025-06-18"], 1]);
  });

  it("F08 a line that is too long gets an error, and ends the connection", async () => {
    const { write, request, answers, server, sessions, exchanges } = start({ maxLineBytes: 300 });
    request(1, "initialize", HELLO);
    write(`{"jsonrpc":"2.0","id":2,"method":"${"x".repeat(300)}"}`);
    request(3, "x");
    await server.ended;
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual(
      expect.arrayContaining([
        [1, undefined],
        [null, RPC.invalidRequest],
      ]),
    );
    expect(answers).toHaveLength(2);
    expect([sessions, exchanges.length]).toEqual([["+2025-06-18", "-2025-06-18"], 1]);
  });

  it("F08 a line of exactly the limit is read", async () => {
    const line = '{"jsonrpc":"2.0","id":1,"method":"x"}';
    const { write, answers, end } = start({ maxLineBytes: line.length });
    write(line);
    await end();
    expect(answers.map(word)).toEqual(["legacy"]);
  });

  it("F01 a client that stops reading only loses its replies", async () => {
    const { output, request, end, exchanges } = start();
    request(1, "x");
    output.destroy();
    await end();
    expect(exchanges).toHaveLength(1);
  });
});
