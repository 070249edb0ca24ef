// MCP on our own stdin and stdout: which era a connection speaks, what is answered, and how it ends.

import { once } from "node:events";
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toAbortSignal } from "./cancellation.ts";
import { META, MODERN_VERSION } from "./era.ts";
import { failure, raw, RPC, success, type Reply } from "./jsonrpc.ts";
import type { Exchange, Service, Session } from "./server.ts";
import { StdioServer } from "./stdio-server.ts";

const envelope = { [META.version]: MODERN_VERSION, [META.clientCapabilities]: {} };
const HELLO = { protocolVersion: "2025-06-18", clientInfo: { name: "c" }, capabilities: { roots: {} } };

interface Answer {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A server on two pipes. Its service answers at once with what it saw, or as `handle` says. */
function start({
  handle,
  maxLineBytes,
}: { handle?: (exchange: Exchange) => Promise<Reply>; maxLineBytes?: number } = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const sessions: string[] = [];
  const notified: string[] = [];
  const exchanges: Exchange[] = [];
  const service: Service = {
    handle: async (exchange) => {
      exchanges.push(exchange);
      if (handle !== undefined) return handle(exchange);
      const { era, session, logLevel } = exchange;
      return success({ era, version: session?.version, logLevel });
    },
    onNotification: ({ method }, session) => notified.push(`${method} ${session?.id}`),
    onSession: ({ version }) => sessions.push(`+${version}`),
    onSessionEnd: ({ version }) => sessions.push(`-${version}`),
  };
  const server = new StdioServer({ input, output, service, ...(maxLineBytes === undefined ? {} : { maxLineBytes }) });
  const answers: Answer[] = [];
  let rest = "";
  output.on("data", (chunk) => {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) answers.push(JSON.parse(line));
  });
  const until = async (holds: () => boolean) => {
    while (!holds()) await once(output, "data");
  };
  const write = (message: unknown) =>
    input.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  const request = (id: unknown, method: string, params?: unknown) => write({ jsonrpc: "2.0", id, method, params });
  const notify = (method: string, params?: unknown) => write({ jsonrpc: "2.0", method, params });
  /** The client closes its side; resolves as the command would go on. */
  const end = async () => {
    input.end();
    await server.ended;
  };
  return { server, input, output, answers, sessions, notified, exchanges, until, write, request, notify, end };
}

/** What an answer says, in a word: the era that the service saw, or the code of the error. */
const word = ({ result, error }: Answer) => error?.code ?? (result as { era?: string } | undefined)?.era;

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

  it("CL-2 notifications before the first request pin nothing", async () => {
    const { notify, request, answers, end } = start();
    notify("notifications/initialized");
    notify("notifications/cancelled", { requestId: 7 });
    request(1, modern.method, modern.params);
    await end();
    expect(answers.map(word)).toEqual(["modern"]);
  });

  it("CL-2 the handshake makes the session, a second one ends the first, the end ends the last", async () => {
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

  it("CL-2 a modern request says its own log level, a legacy one has its session's", async () => {
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
  it("CL-6 run side by side and are answered as they finish, text and number ids apart", async () => {
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

  it("F11 an id is refused while it is in use, and free again afterwards", async () => {
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
    // What is refused has done nothing.
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

  it("CL-3 a cancelled request hears of it, and gets no answer", async () => {
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
    "CL-3 F11 cancelling %j cancels nobody else",
    async (requestId) => {
      const { request, notify, answers, end, exchanges } = start();
      request("1", "x");
      notify("notifications/cancelled", { requestId });
      await end();
      expect(exchanges.map(({ signal }) => signal.aborted)).toEqual([false]);
      expect(answers).toHaveLength(1);
    },
  );

  it("GR-7 what a request has to say before its answer comes before its answer", async () => {
    const { request, answers, end } = start({
      handle: async (exchange) => {
        exchange.notify("notifications/progress", raw({ progressToken: 1, progress: 1 }));
        exchange.notify("notifications/x");
        return success({});
      },
    });
    request(1, "x");
    await end();
    expect(answers.map(({ method, id }) => method ?? id)).toEqual(["notifications/progress", "notifications/x", 1]);
  });

  it("GR-7 a session may speak unasked", async () => {
    let session: Session | undefined;
    const { request, answers, until, end } = start({
      handle: async (exchange) => {
        session = exchange.session;
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

const untilAborted = ({ signal }: Exchange): Promise<Reply> =>
  new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(failure({ code: -31499, message: "cancelled" })), { once: true }),
  );

describe("the end", () => {
  it("CL-1 what was asked before the end is answered, and the answers are written when it has ended", async () => {
    const finish: (() => void)[] = [];
    const { input, output, server, answers } = start({
      handle: () => new Promise((resolve) => finish.push(() => resolve(success({})))),
    });
    input.write('{"jsonrpc":"2.0","id":1,"method":"x"}\n');
    input.end('{"jsonrpc":"2.0","id":2,"method":"x"}');
    await once(input, "end");
    for (const answer of finish) answer();
    await server.ended;
    // As the command does it: whatever is not written by now is lost.
    output.end();
    expect(answers.map(({ id }) => id)).toEqual([1, 2]);
  });

  it("GR-7 a subscription ends with its answer, by the end of the input and by cancelling", async () => {
    const subscribe = ({ signal }: Exchange): Promise<Reply> =>
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

  it("F01 an input that breaks ends it like one that ends", async () => {
    const { input, server, request, sessions, answers } = start();
    request(1, "initialize", HELLO);
    await new Promise(setImmediate);
    input.destroy(new Error("EIO"));
    await server.ended;
    expect([sessions, answers.length]).toEqual([["+2025-06-18", "-2025-06-18"], 1]);
  });

  it("F08 a line that is too long is answered, and ends the connection: what follows cannot be told apart", async () => {
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

  it("F08 the longest line that is allowed is read", async () => {
    const line = '{"jsonrpc":"2.0","id":1,"method":"x"}';
    const { write, answers, end } = start({ maxLineBytes: line.length });
    write(line);
    await end();
    expect(answers.map(word)).toEqual(["legacy"]);
  });

  it("F01 a client that reads no more costs nothing but its answers", async () => {
    const { output, request, end, exchanges } = start();
    request(1, "x");
    output.destroy();
    await end();
    expect(exchanges).toHaveLength(1);
  });
});

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
  ])("SE-5 is answered with an error, and the next request with its answer: %s", async (_, junk, id, code) => {
    const { input, request, answers, end } = start();
    input.write(junk);
    if (typeof junk === "string") input.write("\n");
    request(9, "x");
    await end();
    expect(answers).toHaveLength(2);
    expect(answers[0]).toMatchObject({ id, error: { code } });
    expect(answers[1]).toMatchObject({ id: 9, result: {} });
  });

  it("F06 blank lines and answers to questions that we never asked are no junk, and get no answer", async () => {
    const { input, answers, end } = start();
    input.write(
      '\n\r\n\n{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}\n',
    );
    await end();
    expect(answers).toEqual([]);
  });

  it("SE-5 whatever bytes come, it survives them, answers in JSON, and then answers a question", async () => {
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

describe("questions to a client", () => {
  const asking = async ({ ask, capabilities, request }: Exchange) => {
    if (request.method === "initialize") return success({});
    if (ask === undefined) return success({ capabilities });
    const reply = await ask("roots/list", undefined).catch((error) => success(error.kind));
    return success({ capabilities, said: reply.ok ? reply.result.value : reply.error.value });
  };

  it("GR-7 go through the pipe, and the answers come back through it", async () => {
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

  it("GR-7 the end of the client leaves nobody waiting", async () => {
    const { answers, request, until, end } = start({ handle: asking });
    request(0, "initialize", HELLO);
    request(1, "x");
    await until(() => answers.length === 2);
    await end();
    expect(answers[2]).toMatchObject({ id: 1, result: { said: "Cancelled" } });
  });

  it("GR-7 a modern client is not asked", async () => {
    const { answers, request, end } = start({ handle: asking });
    request(1, "x", { _meta: { ...envelope, [META.clientCapabilities]: { sampling: {} } } });
    await end();
    expect(answers).toMatchObject([{ id: 1, result: { capabilities: { sampling: {} } } }]);
  });
});

describe("batches", () => {
  const rpc = (id: unknown, method: string) => ({ jsonrpc: "2.0", id, method });

  it("CL-9 of an old client are answered as one array, when the last of their requests is done", async () => {
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

  it("CL-9 a cancelled member has no answer, and holds up no other", async () => {
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

  it.each(["2025-06-18", "2025-11-25"])("CL-9 a client of %s is told that there are none", async (protocolVersion) => {
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
