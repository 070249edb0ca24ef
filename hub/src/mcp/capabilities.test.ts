import { describe, expect, it } from "vitest";
import { failure, success } from "../wire/jsonrpc.ts";
import { withBlame } from "./capabilities.ts";

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
