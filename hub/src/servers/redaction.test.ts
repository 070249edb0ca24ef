import { describe, expect, it } from "vitest";
import { createRedactor } from "../../../test/support/redactor.ts";
import { HubError, toHubError } from "../errors.ts";
import { HttpStatusError } from "../wire/http-failure.ts";
import { createRedact, redactError } from "./redaction.ts";

const SECRET = "s3cret-of-a-server";
const redactor = createRedactor();
redactor.setSecrets("it", [SECRET]);
const redact = createRedact(redactor);

describe("SE-1 T12 an error of a server", () => {
  it("is the same one where there is nothing to hide", () => {
    const error = new HubError("Timeout", "Handshake timed out", { detail: "said nothing", cause: new Error("x") });
    expect(redactError(error, redact)).toBe(error);
  });

  it("says the rest of what it said", () => {
    const error = new HubError("ServerNotRunning", `with ${SECRET}`, {
      detail: `token=other ${Buffer.from(SECRET).toString("base64")}`,
      hint: `try ${SECRET}`,
      field: "env.A",
    });
    expect(redactError(error, redact).toJSON()).toEqual({
      code: "SERVICE_UNAVAILABLE",
      kind: "ServerNotRunning",
      message: "with ***",
      detail: "token=*** ***",
      hint: "try ***",
      field: "env.A",
    });
  });

  it("stays what it is, without a trace of the old text", () => {
    const error = redactError(new HttpStatusError(503, { code: -32001, message: `no: ${SECRET}` }), redact);
    expect(error).toBeInstanceOf(HttpStatusError);
    expect(error).toMatchObject({ status: 503, detail: "no: ***", kind: "ConnectionFailed" });
    expect(`${error.stack} ${String(error)}`).not.toContain(SECRET);
    expect(error.stack).not.toContain("s3cret");
  });

  it("loses a cause that tells it", () => {
    const error = redactError(toHubError(new TypeError(`Invalid header ${SECRET}`)), redact);
    expect(error).toMatchObject({ kind: "Unexpected", cause: undefined });
  });
});
