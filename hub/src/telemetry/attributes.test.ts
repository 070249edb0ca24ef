import { describe, expect, it } from "vitest";
import { HubError } from "../errors.ts";
import { failure, success } from "../protocol/rpc/jsonrpc.ts";
import { askedFor, failureOf, spanName } from "./attributes.ts";

const redact = (text: string) => text.replaceAll("s3cret", "***");

describe("the attributes of a span", () => {
  it("MG-3 for a call: its tool, and nothing of its arguments", () => {
    const asked = askedFor("tools/call", { name: "get_weather", arguments: { uri: "x", ref: {} } }, redact);
    expect(JSON.parse(JSON.stringify(asked))).toEqual({
      "mcp.method.name": "tools/call",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "get_weather",
    });
    expect(spanName(asked)).toBe("tools/call get_weather");
  });

  it("SE-1 for a resource: its URI without secrets, and not in the span name", () => {
    const asked = askedFor("resources/read", { uri: "db://host/t?key=s3cret" }, redact);
    expect(asked["mcp.resource.uri"]).toBe("db://host/t?key=***");
    expect(spanName(asked)).toBe("resources/read");
  });

  it("MG-3 names from clients are bounded", () => {
    const asked = askedFor("prompts/get", { name: "p".repeat(10_000) }, redact);
    expect(spanName(asked).length).toBeLessThan(1100);
  });

  it.each([
    [{ reply: success({ content: [] }) }, undefined],
    [{ reply: success({ content: [], isError: true }) }, { attributes: { "error.type": "tool_error" } }],
    [
      { reply: failure({ code: -32602, message: "may quote s3cret" }) },
      { attributes: { "error.type": "-32602", "rpc.response.status_code": "-32602" } },
    ],
    [
      { error: new HubError("Timeout", "No answer", { detail: "s3cret" }) },
      { attributes: { "error.type": "Timeout" }, message: "No answer" },
    ],
  ])("MG-3 for an outcome: %j", (outcome, expected) => expect(failureOf(outcome)).toEqual(expected));
});
