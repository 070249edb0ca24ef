// Batches of clients over Streamable HTTP.

import { describe, expect, it } from "vitest";
import { META, MODERN_VERSION } from "../revisions/era.ts";
import { failure, RPC, success, type Reply } from "../rpc/jsonrpc.ts";
import {
  HELLO,
  type Headers,
  rpc,
  outcome,
  reader,
  messagesOf,
  useHttpServer,
} from "../../../../test/support/http-server.ts";

const ENVELOPE = { [META.version]: MODERN_VERSION, [META.clientCapabilities]: {} };
const { service, post, openSession } = useHttpServer();

describe("batches", () => {
  const note = (method: string) => ({ jsonrpc: "2.0", method });

  it.each(["2024-11-05", "2025-03-26"])(
    "CL-9 of %s get their replies together, in any order of completion",
    async (version) => {
      const session = await openSession(version);
      let finish: (reply: Reply) => void = () => undefined;
      service.methods["late"] = () => new Promise((resolve) => (finish = resolve));
      service.methods["soon"] = async () => (finish(success("late")), success("soon"));
      const response = await post([rpc("a", "late"), note("n"), rpc("b", "soon"), 7, rpc("c", "none")], session);
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
      const answers = JSON.parse(await response.text());
      expect(answers).toHaveLength(4);
      expect(answers).toEqual(
        expect.arrayContaining([
          { jsonrpc: "2.0", id: "a", result: "late" },
          { jsonrpc: "2.0", id: "b", result: "soon" },
          { jsonrpc: "2.0", id: null, error: { code: RPC.invalidRequest, message: expect.any(String) } },
          { jsonrpc: "2.0", id: "c", error: { code: RPC.methodNotFound, message: "unknown" } },
        ]),
      );
      expect(service.notified).toEqual(["n session"]);
    },
  );

  it("CL-9 become a stream of single messages if a request sends a notification", async () => {
    const response = await post([rpc(1, "saw"), rpc(2, "talk")], await openSession("2025-03-26"));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const messages = messagesOf(await response.text());
    expect(new Set(messages.map(({ id, method }) => id ?? method))).toEqual(
      new Set([1, 2, "notifications/message", "notifications/progress"]),
    );
    expect(messages).toHaveLength(4);
  });

  it("CL-9 without a request are accepted, and replies in them are matched", async () => {
    service.methods["ask"] = async ({ ask }) =>
      (await ask?.("roots/list", undefined)) ?? failure({ code: 1, message: "" });
    const session = await openSession("2025-03-26");
    const stream = reader(await post(rpc(1, "ask"), session));
    await stream.until("roots/list");
    const batch = [note("n"), { jsonrpc: "2.0", id: 1, result: { roots: [] } }];
    expect(await outcome(post(batch, session))).toEqual({ status: 202 });
    expect(messagesOf(await stream.rest()).at(-1)).toEqual({ jsonrpc: "2.0", id: 1, result: { roots: [] } });
  });

  it.each<[what: string, version: string, batch: unknown]>([
    ["an empty one", "2025-03-26", []],
    ["one with a modern message", "2025-03-26", [rpc(1, "saw"), rpc(2, "saw", { _meta: ENVELOPE })]],
    ["one with a handshake", "2025-03-26", [rpc(1, "initialize", HELLO)]],
    ["one of too many", "2025-03-26", Array.from({ length: 101 }, (_, id) => rpc(id, "saw"))],
    ["one of a session of 2025-06-18", "2025-06-18", [rpc(1, "saw")]],
    ["one of a session of 2025-11-25", "2025-11-25", [rpc(1, "saw")]],
  ])("CL-9 SE-5 %s is refused as a whole", async (_, version, batch) => {
    const session = await openSession(version);
    expect(await outcome(post(batch, session))).toMatchObject({ status: 400, code: RPC.invalidRequest });
    expect(service.exchanges.map(({ request }) => request.method)).toEqual(["initialize"]);
  });

  it.each<[what: string, headers: Headers, status: number]>([
    ["a session that is not there", { "mcp-session-id": "00000000-0000-4000-8000-000000000000" }, 404],
    ["a version that nobody knows", { "mcp-session-id": "x", "mcp-protocol-version": "1999-01-01" }, 400],
  ])("CL-9 SE-5 those of %s are refused once", async (_, headers, status) => {
    expect(await outcome(post([rpc(1, "saw")], headers))).toMatchObject({ status });
    expect(await outcome(post("[]", headers))).toMatchObject({ status });
  });

  it("CL-9 SE-5 are refused without a session, or if incomplete", async () => {
    expect(await outcome(post([rpc(1, "saw")]))).toMatchObject({ status: 400, code: RPC.invalidRequest });
    const session = await openSession("2025-03-26");
    expect(await outcome(post("[1,", session))).toMatchObject({ status: 400, code: RPC.parseError });
  });

  it("CL-9 a duplicate id is refused the second time", async () => {
    const response = await post([rpc(1, "saw"), rpc(1, "saw")], await openSession("2025-03-26"));
    expect(response.status).toBe(200);
    const answers: { error?: { code: number } }[] = JSON.parse(await response.text());
    expect(answers.map(({ error }) => error?.code)).toEqual([RPC.invalidRequest, undefined]);
  });
});
