// Replies over Streamable HTTP: JSON or an event stream, requests to the client before them, and the work after them.

import { connect as connectTcp } from "node:net";
import { describe, expect, it } from "vitest";
import { META, MODERN_VERSION } from "../revisions/era.ts";
import { raw, success, type Reply } from "../rpc/jsonrpc.ts";
import {
  aborted,
  HELLO,
  JSON_HEADERS,
  rpc,
  outcome,
  reader,
  messagesOf,
  useHttpServer,
} from "../../../../test/support/http-server.ts";

const ENVELOPE = { [META.version]: MODERN_VERSION, [META.clientCapabilities]: {} };
const { url, service, responses, post, get, openSession, modern, flood } = useHttpServer();

describe("the response to a POST", () => {
  it("CL-7 is JSON if no message comes before the reply", async () => {
    const response = await post(rpc(1, "saw"), await openSession());
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("content-length")).toBe(String((await response.text()).length));
  });

  it.each([
    ["legacy", async () => post(rpc(1, "talk"), await openSession())],
    ["modern", async () => modern("talk")],
  ])("CL-7 becomes an event stream with the first notification: %s", async (_, ask) => {
    const response = await ask();
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(messagesOf(await response.text())).toEqual([
      { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1 } },
      { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "ü" } },
      { jsonrpc: "2.0", id: 1, result: { done: true } },
    ]);
  });

  it("CL-7 may be a stream for initialize too, and still opens the session", async () => {
    service.methods["initialize"] = async (incoming) => {
      incoming.notify("notifications/message", raw({}));
      return success({});
    };
    const response = await post(rpc(1, "initialize", HELLO));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(
      await outcome(post(rpc(2, "saw"), { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" })),
    ).toMatchObject({
      status: 200,
    });
  });

  it("CL-7 does not wait for other requests, and is complete if large", async () => {
    const text = "ä".repeat(3 << 20);
    service.methods["large"] = async (incoming) => {
      incoming.notify("notifications/message", raw({}));
      return success({ text });
    };
    const [, answer] = messagesOf(await (await modern("large")).text());
    expect(answer.result.text).toBe(text);
  });

  it.each(["legacy", "modern"])(
    "T21 is cut off if the client does not read, which cancels a modern request: %s",
    async (era) => {
      let flooded: (sent: number) => void;
      const sent = new Promise<number>((resolve) => (flooded = resolve));
      service.methods["flood"] = async (incoming) => {
        const count = await flood((message) => incoming.notify("notifications/message", message));
        if (era === "modern") await aborted(incoming.signal);
        flooded(count);
        return success({});
      };
      const legacy = era === "legacy";
      const headers = legacy ? await openSession() : { "mcp-protocol-version": MODERN_VERSION, "mcp-method": "flood" };
      const body = JSON.stringify(rpc(1, "flood", legacy ? {} : { _meta: ENVELOPE }));
      const socket = connectTcp(Number(new URL(url()).port), "127.0.0.1");
      socket.on("error", () => {});
      const all = { host: "x", ...JSON_HEADERS, ...headers, "content-length": String(body.length) };
      const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`POST /mcp HTTP/1.1\r\n${head.join("")}\r\n${body}`);
      expect(await sent).toBeLessThan(500);
      socket.destroy();
    },
  );
});

describe("requests to a client", () => {
  const answered = (id: number, result: unknown) => ({ jsonrpc: "2.0", id, result });
  const asks = (...methods: string[]) => {
    service.methods["ask"] = async ({ ask, signal }) => {
      if (ask === undefined) return success("cannot be asked");
      const replies = await Promise.allSettled(methods.map((method) => ask(method, raw({ q: method }), { signal })));
      return success(replies.map((reply) => (reply.status === "fulfilled" ? reply.value : String(reply.reason.kind))));
    };
  };

  it("GR-7 are sent on the stream of the request, and replies are matched within the session", async () => {
    asks("roots/list");
    const [one, other] = [await openSession(), await openSession()];
    const stream = reader(await post(rpc("r", "ask"), one));
    const [question] = messagesOf(await stream.until("\n\n"));
    expect(question).toEqual({ jsonrpc: "2.0", id: 1, method: "roots/list", params: { q: "roots/list" } });
    expect((await post(answered(1, { roots: ["stolen"] }), other)).status).toBe(202);
    expect((await post(answered(1, { roots: [] }), one)).status).toBe(202);
    expect(messagesOf(await stream.rest())[1]).toMatchObject({
      id: "r",
      result: [{ result: { value: { roots: [] } } }],
    });
  });

  it("GR-7 are rejected when the client disconnects or ends its session", async () => {
    asks("a", "b");
    const session = await openSession();
    const leaver = new AbortController();
    const left = post(rpc(1, "ask"), session, leaver.signal);
    await reader(await left).until('"id":2');
    leaver.abort();
    await expect(service.incoming("ask").then(({ session: of }) => of?.ask("c", undefined))).rejects.toMatchObject({
      kind: "ConnectionFailed",
    });
    const stream = reader(await post(rpc(2, "ask"), session));
    await stream.until('"id":4');
    await fetch(url(), { method: "DELETE", headers: session });
    expect(messagesOf(await stream.rest()).at(-1)).toMatchObject({ id: 2, result: ["Cancelled", "Cancelled"] });
  });

  it("GR-7 are cancelled with their request, and forgotten when it finishes", async () => {
    asks("a");
    const session = await openSession();
    const stream = reader(await post(rpc(1, "ask"), session));
    await stream.until('"id":1');
    await post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }, session);
    const messages = messagesOf(await stream.rest());
    expect(messages[1]).toMatchObject({ method: "notifications/cancelled", params: { requestId: 1 } });

    let late: Promise<Reply> | undefined;
    service.methods["forget"] = async ({ ask }) => {
      late = ask?.("b", undefined);
      late?.catch(() => undefined); // looked at below
      return success({});
    };
    await (await post(rpc(2, "forget"), session)).text();
    await expect(late).rejects.toMatchObject({ kind: "Cancelled" });
  });

  it("GR-7 outside of a request are sent on the client's GET stream", async () => {
    const session = await openSession();
    const stream = reader(await get(session));
    const [known] = service.sessions;
    const asked = known?.ask("roots/list", undefined);
    expect(messagesOf(await stream.until("\n\n"))).toEqual([{ jsonrpc: "2.0", id: 1, method: "roots/list" }]);
    await post(answered(1, { roots: [] }), session);
    expect(await asked).toMatchObject({ ok: true, result: { value: { roots: [] } } });
  });

  it("GR-7 do not exist for modern clients, which send their capabilities with each request", async () => {
    asks("a");
    expect(await outcome(modern("ask"))).toMatchObject({ result: "cannot be asked" });
    const capabilities = { elicitation: { form: {} } };
    service.methods["saw"] = async (incoming) => success(incoming.capabilities);
    const params = { _meta: { ...ENVELOPE, [META.clientCapabilities]: capabilities } };
    const headers = { "mcp-protocol-version": MODERN_VERSION, "mcp-method": "saw" };
    expect(await outcome(post(rpc(1, "saw", params), headers))).toMatchObject({ result: capabilities });
    expect(await outcome(post(rpc(1, "saw"), await openSession()))).toMatchObject({ result: {} });
  });
});

describe("after the reply", () => {
  it.each(["legacy", "modern"])("SE-5 a notification in the same event loop turn is dropped: %s", async (era) => {
    let late = 0;
    service.methods["hasty"] = (incoming) => {
      const reply = Promise.resolve(success({ done: true }));
      void (async () => {
        // The reply has been sent, still in the same event loop turn.
        for (let step = 0; step < 50; step++) {
          await reply;
          if (responses.at(-1)?.headersSent !== true) continue;
          incoming.notify("notifications/progress", raw({ progressToken: 1, progress: ++late }));
        }
      })();
      return reply;
    };
    const session = era === "legacy" ? await openSession() : {};
    const answer = era === "legacy" ? post(rpc(1, "hasty"), session) : modern("hasty");
    expect(await outcome(answer)).toMatchObject({ status: 200, result: { done: true } });
    expect(late).toBeGreaterThan(0);
  });
});
