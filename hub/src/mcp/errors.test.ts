// The hub's own errors as replies to MCP clients, by kind, method and era.

import { describe, expect, it } from "vitest";
import { ERRORS, HubError, type ErrorKind } from "../errors.ts";
import { isObject } from "../lib/json/json.ts";
import { ERROR_META, toReply } from "./errors.ts";

// eslint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the table are the kinds
const KINDS = Object.keys(ERRORS) as ErrorKind[];
const details = { detail: "because", hint: "try again", field: "name" };

function errorOf(thrown: unknown, method: string, era: "legacy" | "modern") {
  const reply = toReply(thrown, method, era);
  return reply.ok ? undefined : reply.error.value;
}

describe("toReply", () => {
  it.each(KINDS)("GR-5 %s outside a call is a JSON-RPC error with the error contract", (kind) => {
    const error = new HubError(kind, "it failed", details);
    const { code } = ERRORS[kind];
    expect(errorOf(error, "prompts/get", "modern")).toEqual({
      code: ERRORS[kind].rpc,
      message: "it failed (because). try again",
      data: { code, kind, message: "it failed", ...details },
    });
  });

  it.each(KINDS)("GR-5 %s of a call is a tool result if a model can use it, else an error", (kind) => {
    const error = new HubError(kind, "it failed", details);
    const { code } = ERRORS[kind];
    const reply = toReply(error, "tools/call", "legacy");
    if (code === "NOT_FOUND" || code === "VALIDATION_ERROR") {
      expect(errorOf(error, "tools/call", "legacy")).toMatchObject({ code: ERRORS[kind].rpc, data: { code, kind } });
    } else {
      expect(reply.ok && reply.result.value).toEqual({
        content: [{ type: "text", text: `${code}: it failed (because). try again` }],
        isError: true,
        _meta: { [ERROR_META]: error.toJSON() },
      });
    }
  });

  it("GR-5 the text of a result without a detail has no empty brackets", () => {
    const reply = toReply(new HubError("CircuitOpen", "Server unavailable"), "tools/call", "modern");
    expect(reply.ok && reply.result.value).toMatchObject({
      content: [{ type: "text", text: "SERVICE_UNAVAILABLE: Server unavailable" }],
    });
  });

  it("AU-1 an error that a login ends says where to log in", () => {
    const loginUrl = "http://127.0.0.1:7777/connect/linear";
    const error = new HubError("LoginRequired", 'Server "linear" needs a login', {
      hint: "plugboard auth linear",
      loginUrl,
    });
    const reply = toReply(error, "tools/call", "legacy");
    expect(reply.ok && reply.result.value).toMatchObject({
      content: [
        {
          type: "text",
          text: `UNAUTHENTICATED: Server "linear" needs a login. Open ${loginUrl} or run: plugboard auth linear`,
        },
      ],
      isError: true,
      _meta: { [ERROR_META]: { kind: "LoginRequired", login_url: loginUrl } },
    });
  });

  it("a long multi-line detail is cut to one line", () => {
    const error = new HubError("ToolNotFound", "Tool not found", { detail: `a\n  b${"x".repeat(1000)}` });
    const { message } = errorOf(error, "prompts/get", "legacy") as { message: string };
    expect(message).toMatch(/^Tool not found \(a bx{397}…\)$/);
  });

  it.each([
    ["resources/read", "legacy", "ServerNotFound", -32002],
    ["resources/read", "modern", "ServerNotFound", -32602],
    ["resources/read", "legacy", "ServerNotRunning", -31503],
    ["prompts/get", "legacy", "ToolNotFound", -32602],
    ["tools/call", "legacy", "ToolNotFound", -32602],
  ] as const)("GR-5 %s, %s, %s: %i", (method, era, kind, code) => {
    expect(errorOf(new HubError(kind, "no"), method, era)).toMatchObject({ code });
  });

  it.each(["tools/call", "tools/list"])("SE-5 an unexpected error reveals no internals: %s", (method) => {
    const reply = toReply(new TypeError("Cannot read /home/user/.secret"), method, "legacy");
    const { bytes, value } = reply.ok ? reply.result : reply.error;
    expect(bytes.toString()).not.toMatch(/secret|TypeError|\.ts:/);
    expect(isObject(value)).toBe(true);
  });

  it("bytes and value agree", () => {
    const reply = toReply(new HubError("Timeout", "späť"), "tools/call", "modern");
    const { bytes, value } = reply.ok ? reply.result : reply.error;
    expect(JSON.parse(bytes.toString())).toEqual(value);
  });
});
