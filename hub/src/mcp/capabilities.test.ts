// Who can be asked what.

import { describe, expect, it } from "vitest";
import { failure, success } from "../wire/jsonrpc.ts";
import { canBeAsked, missingCapability, nameOf, withBlame, withReason } from "./capabilities.ts";

const form = { method: "elicitation/create", params: { message: "m", requestedSchema: {} } };
const url = { method: "elicitation/create", params: { mode: "url", url: "https://x" } };
const sampling = { method: "sampling/createMessage", params: {} };
const withTools = { method: "sampling/createMessage", params: { tools: [] } };
const roots = { method: "roots/list", params: undefined };

describe("missingCapability", () => {
  it.each([
    [form, { elicitation: {} }, undefined],
    [form, { elicitation: { form: {} } }, undefined],
    [form, { elicitation: { form: {}, url: {} } }, undefined],
    [form, { elicitation: { url: {} } }, "elicitation.form"],
    [form, {}, "elicitation.form"],
    [form, { elicitation: true }, "elicitation.form"],
    [url, { elicitation: { url: {} } }, undefined],
    [url, { elicitation: {} }, "elicitation.url"],
    [url, { elicitation: { form: {} } }, "elicitation.url"],
    [sampling, { sampling: {} }, undefined],
    [sampling, { sampling: null }, "sampling"],
    [withTools, { sampling: { tools: {} } }, undefined],
    [withTools, { sampling: {} }, "sampling.tools"],
    [roots, { roots: { listChanged: true } }, undefined],
    [roots, {}, "roots"],
    [{ method: "tasks/get", params: {} }, { roots: {}, sampling: {}, elicitation: {} }, "tasks/get"],
  ])("GR-7 %j of a client with %j: %s", (question, able, missing) => {
    const found = missingCapability(question, able);
    expect(found && nameOf(found)).toBe(missing);
  });

  it("GR-7 who has none of the three is never asked", () => {
    expect(canBeAsked({ extensions: {}, experimental: {} })).toBe(false);
    for (const able of [{ roots: {} }, { sampling: {} }, { elicitation: {} }]) expect(canBeAsked(able)).toBe(true);
  });
});

describe("a call after a question that the client cannot be asked", () => {
  const unasked = { method: "elicitation/create", missing: { elicitation: { form: {} } } };
  const message =
    "The server asks the user a question, and the client that called it cannot be asked: it has no elicitation.form";
  const refusal = { code: -32021, message, data: { requiredCapabilities: unasked.missing } };
  const refused = { ok: false, isOurs: true, error: { value: refusal } };

  it.each([
    ["a tool error", success({ content: [], isError: true })],
    ["an error", failure({ code: -32603, message: "it broke" })],
  ])("GR-7 that ends in %s is refused with what the client lacks", (_, reply) => {
    expect(withBlame(reply, unasked)).toMatchObject(refused);
  });

  it("E8 F8 is explained to a legacy client in words, once, whatever the server made of it", () => {
    const failed = success({ content: [{ type: "text", text: "oops" }], isError: true });
    expect(withReason(failed, unasked)).toMatchObject({
      ok: true,
      result: { value: { isError: true, content: [{ text: "oops" }, { type: "text", text: message }] } },
    });
    const error = withReason(failure({ code: -32603, message: "it broke" }), unasked);
    expect(error).toMatchObject({
      error: { value: { code: -32603, message: `${message}. The server said: it broke` } },
    });
    const told = success({ content: [{ type: "text", text: `MCP error -32601: ${message}` }], isError: true });
    expect(withReason(told, unasked)).toBe(told);
  });

  it("GR-7 that succeeds all the same is left alone, and so is a failure without such a question", () => {
    const done = success({ content: [] });
    const failed = success({ content: [], isError: true });
    expect(withBlame(done, unasked)).toBe(done);
    expect(withReason(done, unasked)).toBe(done);
    expect(withBlame(failed, undefined)).toBe(failed);
  });
});
