// Who can be asked what.

import { describe, expect, it } from "vitest";
import { failure, success } from "../wire/jsonrpc.ts";
import { canBeAsked, missingCapability, nameOf, withBlame } from "./capabilities.ts";

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
  const missing = { sampling: {} };
  const refusal = { code: -32021, data: { requiredCapabilities: missing } };
  const refused = { ok: false, isOurs: true, error: { value: refusal } };

  it.each([
    ["a tool error", success({ content: [], isError: true })],
    ["an error", failure({ code: -32603, message: "it broke" })],
  ])("GR-7 that ends in %s is refused with what the client lacks", (_, reply) => {
    expect(withBlame(reply, missing)).toMatchObject(refused);
  });

  it("GR-7 that succeeds all the same is left alone, and so is a failure without such a question", () => {
    const done = success({ content: [] });
    const failed = success({ content: [], isError: true });
    expect(withBlame(done, missing)).toBe(done);
    expect(withBlame(failed, undefined)).toBe(failed);
  });
});
