// Requests of servers of both eras to a legacy client, and how a modern server's call is repeated with the answers.

import { describe, expect, it } from "vitest";
import type { Cancellation } from "../../lib/cancellation.ts";
import { failure, rawParams, RPC, success, type Raw, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { Era } from "../../protocol/revisions/era.ts";
import type { IncomingRequest } from "../../protocol/serve/service.ts";
import { LegacyClientResponder } from "./legacy-client-responder.ts";
import { Tasks } from "../tasks/tasks.ts";

const ABLE = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true }, tasks: {} };

interface Asked {
  readonly method: string;
  readonly params: unknown;
  readonly signal: Cancellation | undefined;
}

function responder(
  answer: (asked: Asked) => Promise<Reply> | Reply = () => success({ action: "accept" }),
  capabilities: IncomingRequest["capabilities"] = ABLE,
  era: Era = "modern",
) {
  const asked: Asked[] = [];
  const notifications: { method: string; params: unknown }[] = [];
  const client = new AbortController();
  const params = '{"name":"t","arguments":{"n":1.0},"_meta":{"progressToken":5}}';
  const incoming: IncomingRequest = {
    request: {
      kind: "request",
      id: 1,
      method: "tools/call",
      params: rawParams(JSON.parse(params), Buffer.from(params)),
    },
    era: "legacy",
    transport: "http",
    session: undefined,
    capabilities,
    logLevel: undefined,
    headers: {},
    signal: client.signal,
    notify: (method, payload) => notifications.push({ method, params: payload?.value }),
    ask: async (method: string, payload: Raw | undefined, options) => {
      const request = { method, params: payload?.value, signal: options?.signal };
      asked.push(request);
      return answer(request);
    },
  };
  const made = new LegacyClientResponder(incoming, new Tasks(), "server");
  made.sentIn(era);
  return { responder: made, asked, notifications, client };
}

const form = { method: "elicitation/create", params: { mode: "form", message: "m", requestedSchema: {} } };
const wants = (inputRequests: object, requestState?: string) =>
  success({ resultType: "input_required", inputRequests, ...(requestState === undefined ? {} : { requestState }) });

describe("LegacyClientResponder", () => {
  it("GR-7 F23 a result of a legacy server is never taken for input_required", () => {
    const { responder: client, asked } = responder(undefined, ABLE, "legacy");
    expect(client.next(wants({ q: form }))).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it("GR-7 sends all requests at once, and repeats the call with answers and state byte for byte", async () => {
    const { responder: client, asked } = responder(({ method }) => success({ from: method }));
    const state = '"\\u00fc\\/ \\ud83d\\ude00 \\u2028 1.0"';
    const bytes = Buffer.from(
      `{"resultType":"input_required","requestState":${state},"inputRequests":{"a b":${JSON.stringify(form)},"r":{"method":"roots/list"}}}`,
    );
    const next = await client.next({ ok: true, result: { bytes, value: JSON.parse(bytes.toString()) } });
    expect(asked.map(({ method }) => method)).toEqual(["elicitation/create", "roots/list"]);
    expect(next?.bytes.toString()).toBe(
      `{"name":"t","arguments":{"n":1.0},"_meta":{"progressToken":5},"inputResponses":{"a b":{"from":"elicitation/create"},"r":{"from":"roots/list"}},"requestState":${state}}`,
    );
    expect(next?.value).toMatchObject({ name: "t", inputResponses: { r: { from: "roots/list" } } });
    expect(client.wasAsked).toBe(true);
  });

  it("GR-7 a round carries nothing of an earlier one: no state if none was given", async () => {
    const { responder: client } = responder();
    await client.next(wants({ it: form }, "first"));
    const next = await client.next(wants({ it: form }));
    expect(next?.value["requestState"]).toBeUndefined();
    expect(next?.bytes.toString()).not.toContain("requestState");
  });

  it("GR-7 any other reply is final", () => {
    const { responder: client, asked } = responder();
    for (const reply of [
      success({ content: [] }),
      success({ resultType: "complete" }),
      failure({ code: 1, message: "" }),
    ]) {
      expect(client.next(reply)).toBeUndefined();
    }
    expect([asked, client.wasAsked]).toEqual([[], false]);
  });

  it("GR-7 an unsupported request ends the call before anything is sent, and the error names the URL", async () => {
    const { responder: client, asked } = responder(undefined, { elicitation: {} });
    const url = { method: "elicitation/create", params: { mode: "url", url: "https://x/y", message: "m" } };
    await expect(client.next(wants({ a: form, b: url }))).rejects.toMatchObject({
      kind: "ClientRefused",
      message: expect.stringMatching(/does not support elicitation.url. Open https:\/\/x\/y$/),
    });
    await expect(client.next(wants({ a: { method: "tasks/get" } }))).rejects.toMatchObject({ kind: "ClientRefused" });
    expect(asked).toEqual([]);
  });

  it("GR-7 a refused form counts as cancelled; refused sampling ends the call and its other requests", async () => {
    const refusing = responder(() => failure({ code: -1, message: "rejected by the user" }));
    const next = await refusing.responder.next(wants({ it: form }));
    expect(next?.value["inputResponses"]).toEqual({ it: { action: "cancel" } });
    const { responder: client, asked } = responder(({ method, signal }) =>
      method === "sampling/createMessage"
        ? failure({ code: -1, message: "rejected by the user" })
        : new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("given up")))),
    );
    await expect(
      client.next(wants({ a: form, b: { method: "sampling/createMessage", params: {} } })),
    ).rejects.toMatchObject({ kind: "ClientRefused", detail: "rejected by the user" });
    expect(asked[0]?.signal?.aborted).toBe(true);
  });

  it("GR-7 cancelling a call cancels its requests to the client", async () => {
    const { responder: client, client: caller } = responder(
      ({ signal }) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("given up")))),
    );
    const next = client.next(wants({ it: form }));
    caller.abort();
    await expect(next).rejects.toThrow("given up");
  });

  it("GR-7 a modern server's missing-capability error is translated", () => {
    const { responder: client } = responder();
    const data = { requiredCapabilities: { elicitation: { url: {} } } };
    const reply = failure({ code: RPC.missingClientCapability, message: "x", data });
    expect(() => client.next(reply)).toThrow(
      expect.objectContaining({ kind: "ClientRefused", detail: "elicitation.url" }),
    );
  });

  it("CL-2 a modern server gets no legacy-only capabilities", () => {
    const { tasks: _, ...rest } = ABLE;
    expect(responder().responder.capabilities).toEqual({ ...rest, roots: {} });
  });

  it("GR-7 a URL elicitation gets the id that legacy clients need, and completes with the final reply", async () => {
    const { responder: client, asked, notifications } = responder();
    const url = { method: "elicitation/create", params: { mode: "url", url: "https://x", message: "m" } };
    await client.next(wants({ it: url }));
    const elicitationId = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(asked[0]?.params).toEqual({ ...url.params, elicitationId });
    expect(notifications).toEqual([]);
    expect(client.next(success({ content: [] }))).toBeUndefined();
    expect(notifications).toEqual([{ method: "notifications/elicitation/complete", params: { elicitationId } }]);
  });
});
