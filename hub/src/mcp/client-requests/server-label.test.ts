import { describe, expect, it } from "vitest";
import { raw, success } from "../../protocol/rpc/jsonrpc.ts";
import { withServerLabel, withServerLabels } from "./server-label.ts";

const META = { "io.plugboard/server": "git" };

describe("the server's name", () => {
  it.each([
    ["elicitation/create", { message: "Sure?", n: 1 }, { message: "[git] Sure?", n: 1, _meta: META }],
    ["elicitation/create", { message: "m", _meta: { a: 1 } }, { message: "[git] m", _meta: { a: 1, ...META } }],
    ["sampling/createMessage", { messages: [], message: "x" }, { messages: [], message: "x", _meta: META }],
    ["roots/list", undefined, { _meta: META }],
  ])("%s of %j", (method, params, named) => {
    const { bytes, value } = withServerLabel(method, params && raw(params), "git");
    expect(value).toEqual(named);
    expect(JSON.parse(bytes.toString())).toEqual(named);
  });

  it("is in each request of an input_required result, whose state keeps its bytes", () => {
    const request = { method: "elicitation/create", params: { message: "Sure?" } };
    const bytes = Buffer.from(
      `{"resultType":"input_required","requestState":"\\u00fc 1.0","inputRequests":{"a":${JSON.stringify(request)},"b":{"method":"roots/list"}}}`,
    );
    const reply = withServerLabels({ ok: true, result: { bytes, value: JSON.parse(bytes.toString()) } }, "git");
    expect(reply.ok && reply.result.bytes.toString()).toContain(String.raw`"requestState":"\u00fc 1.0"`);
    expect(reply).toMatchObject({
      result: {
        value: {
          inputRequests: {
            a: { method: "elicitation/create", params: { message: "[git] Sure?", _meta: META } },
            b: { method: "roots/list" },
          },
        },
      },
    });
    const done = success({ content: [] });
    expect(withServerLabels(done, "git")).toBe(done);
  });
});
