// Which requests a client supports, and the errors for those that it does not.

import { describe, expect, it } from "vitest";
import { failure, success } from "../../protocol/rpc/jsonrpc.ts";
import {
  canBeAsked,
  missingCapability,
  nameOf,
  withCapabilityError,
  withCapabilityNote,
} from "./client-capabilities.ts";

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
  ])("GR-7 %j of a client with %j: %s", (request, able, missing) => {
    const found = missingCapability(request, able);
    expect(found && nameOf(found)).toBe(missing);
  });

  it("GR-7 a client without elicitation, sampling and roots is never asked", () => {
    expect(canBeAsked({ extensions: {}, experimental: {} })).toBe(false);
    for (const able of [{ roots: {} }, { sampling: {} }, { elicitation: {} }]) expect(canBeAsked(able)).toBe(true);
  });
});

describe("a call with an unsupported server request", () => {
  const unsupported = { method: "elicitation/create", missing: { elicitation: { form: {} } } };
  const message = "The server asks the user a question, but the calling client does not support elicitation.form";
  const refusal = { code: -32021, message, data: { requiredCapabilities: unsupported.missing } };
  const refused = { ok: false, isOurs: true, error: { value: refusal } };

  it.each([
    ["a tool error", success({ content: [], isError: true })],
    ["an error", failure({ code: -32603, message: "it broke" })],
  ])("GR-7 that ends in %s fails with the missing capability", (_, reply) => {
    expect(withCapabilityError(reply, unsupported)).toMatchObject(refused);
  });

  it("a legacy client gets the reason once, whatever the server's error looks like", () => {
    const failed = success({ content: [{ type: "text", text: "oops" }], isError: true });
    expect(withCapabilityNote(failed, unsupported)).toMatchObject({
      ok: true,
      result: { value: { isError: true, content: [{ text: "oops" }, { type: "text", text: message }] } },
    });
    const error = withCapabilityNote(failure({ code: -32603, message: "it broke" }), unsupported);
    expect(error).toMatchObject({
      error: { value: { code: -32603, message: `${message}. The server said: it broke` } },
    });
    const explained = success({ content: [{ type: "text", text: `MCP error -32601: ${message}` }], isError: true });
    expect(withCapabilityNote(explained, unsupported)).toBe(explained);
  });

  it("GR-7 that succeeds keeps its result; so does a failure without an unsupported request", () => {
    const done = success({ content: [] });
    const failed = success({ content: [], isError: true });
    expect(withCapabilityError(done, unsupported)).toBe(done);
    expect(withCapabilityNote(done, unsupported)).toBe(done);
    expect(withCapabilityError(failed, undefined)).toBe(failed);
  });
});
