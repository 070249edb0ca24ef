// A legacy client as the one who is asked back: what it is asked on behalf of either era, and what the server is asked next.

import { describe, expect, it } from "vitest";
import type { Cancellation } from "../wire/cancellation.ts";
import { failure, rawParams, RPC, success, type Raw, type Reply } from "../wire/jsonrpc.ts";
import type { Era } from "../wire/era.ts";
import type { Exchange } from "../wire/server.ts";
import { Relay } from "./relay.ts";
import { Tasks } from "./tasks.ts";

const ABLE = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true }, tasks: {} };

interface Asked {
  readonly method: string;
  readonly params: unknown;
  readonly signal: Cancellation | undefined;
}

function relay(
  answer: (asked: Asked) => Promise<Reply> | Reply = () => success({ action: "accept" }),
  capabilities: Exchange["capabilities"] = ABLE,
  era: Era = "modern",
) {
  const asked: Asked[] = [];
  const told: { method: string; params: unknown }[] = [];
  const client = new AbortController();
  const params = '{"name":"t","arguments":{"n":1.0},"_meta":{"progressToken":5}}';
  const exchange: Exchange = {
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
    notify: (method, payload) => told.push({ method, params: payload?.value }),
    ask: async (method: string, payload: Raw | undefined, options) => {
      const question = { method, params: payload?.value, signal: options?.signal };
      asked.push(question);
      return answer(question);
    },
  };
  const made = new Relay(exchange, new Tasks(), "server");
  made.sentIn(era);
  return { relay: made, asked, told, client };
}

const form = { method: "elicitation/create", params: { mode: "form", message: "m", requestedSchema: {} } };
const wants = (inputRequests: object, requestState?: string) =>
  success({ resultType: "input_required", inputRequests, ...(requestState === undefined ? {} : { requestState }) });

describe("Relay", () => {
  it("GR-7 F23 takes no result of a legacy server for a question, whatever it looks like", () => {
    const { relay: client, asked } = relay(undefined, ABLE, "legacy");
    expect(client.next(wants({ q: form }))).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it("GR-7 asks all at once, and brings the answers and the state back byte for byte, beside what the caller sent", async () => {
    const { relay: client, asked } = relay(({ method }) => success({ from: method }));
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

  it("GR-7 a round does not carry what an earlier one had: no state where none was given", async () => {
    const { relay: client } = relay();
    await client.next(wants({ it: form }, "first"));
    const next = await client.next(wants({ it: form }));
    expect(next?.value["requestState"]).toBeUndefined();
    expect(next?.bytes.toString()).not.toContain("requestState");
  });

  it("GR-7 any other answer is the last word", () => {
    const { relay: client, asked } = relay();
    for (const reply of [
      success({ content: [] }),
      success({ resultType: "complete" }),
      failure({ code: 1, message: "" }),
    ]) {
      expect(client.next(reply)).toBeUndefined();
    }
    expect([asked, client.wasAsked]).toEqual([[], false]);
  });

  it("GR-7 what the client cannot do ends the call, before anything is asked, and an address is named", async () => {
    const { relay: client, asked } = relay(undefined, { elicitation: {} });
    const url = { method: "elicitation/create", params: { mode: "url", url: "https://x/y", message: "m" } };
    await expect(client.next(wants({ a: form, b: url }))).rejects.toMatchObject({
      kind: "ClientRefused",
      message: expect.stringMatching(/cannot be asked: it has no elicitation.url. Open https:\/\/x\/y$/),
    });
    await expect(client.next(wants({ a: { method: "tasks/get" } }))).rejects.toMatchObject({ kind: "ClientRefused" });
    expect(asked).toEqual([]);
  });

  it("GR-7 a refused form is cancelled, and refused sampling ends the call and what else is asked", async () => {
    const refusing = relay(() => failure({ code: -1, message: "rejected by the user" }));
    const next = await refusing.relay.next(wants({ it: form }));
    expect(next?.value["inputResponses"]).toEqual({ it: { action: "cancel" } });
    const { relay: client, asked } = relay(({ method, signal }) =>
      method === "sampling/createMessage"
        ? failure({ code: -1, message: "rejected by the user" })
        : new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("given up")))),
    );
    await expect(
      client.next(wants({ a: form, b: { method: "sampling/createMessage", params: {} } })),
    ).rejects.toMatchObject({ kind: "ClientRefused", detail: "rejected by the user" });
    expect(asked[0]?.signal?.aborted).toBe(true);
  });

  it("GR-7 a call that the client cancels takes its questions with it", async () => {
    const { relay: client, client: caller } = relay(
      ({ signal }) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("given up")))),
    );
    const next = client.next(wants({ it: form }));
    caller.abort();
    await expect(next).rejects.toThrow("given up");
  });

  it("GR-7 what a modern server says of the client's capabilities is not passed on as it is", () => {
    const { relay: client } = relay();
    const data = { requiredCapabilities: { elicitation: { url: {} } } };
    const reply = failure({ code: RPC.missingClientCapability, message: "x", data });
    expect(() => client.next(reply)).toThrow(
      expect.objectContaining({ kind: "ClientRefused", detail: "elicitation.url" }),
    );
  });

  it("CL-2 a modern server is not told of what it does not know", () => {
    const { tasks: _, ...rest } = ABLE;
    expect(relay().relay.capabilities).toEqual({ ...rest, roots: {} });
  });

  it("GR-7 an address gets the id that legacy clients need, and its end is told with the last word", async () => {
    const { relay: client, asked, told } = relay();
    const url = { method: "elicitation/create", params: { mode: "url", url: "https://x", message: "m" } };
    await client.next(wants({ it: url }));
    const elicitationId = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(asked[0]?.params).toEqual({ ...url.params, elicitationId });
    expect(told).toEqual([]);
    expect(client.next(success({ content: [] }))).toBeUndefined();
    expect(told).toEqual([{ method: "notifications/elicitation/complete", params: { elicitationId } }]);
  });
});
