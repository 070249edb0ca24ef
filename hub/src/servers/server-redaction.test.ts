import { describe, expect, it } from "vitest";
import { createRedactor } from "../../../test/support/redactor.ts";
import { HubError, toHubError } from "../errors.ts";
import { HttpStatusError } from "../protocol/connect/http-failure.ts";
import { createRedact, redactError } from "./server-redaction.ts";

const SECRET = "s3cret-of-a-server";
const redactor = createRedactor();
redactor.setSecrets("it", [SECRET]);
const redact = createRedact(redactor);

describe("SE-1 T12 an error of a server", () => {
  it("is returned unchanged if it contains no secret", () => {
    const error = new HubError("Timeout", "Handshake timed out", { detail: "said nothing", cause: new Error("x") });
    expect(redactError(error, redact)).toBe(error);
  });

  it("keeps the rest of its texts", () => {
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

  it("keeps its class, without the original text in its stack", () => {
    const error = redactError(new HttpStatusError(503, { code: -32001, message: `no: ${SECRET}` }), redact);
    expect(error).toBeInstanceOf(HttpStatusError);
    expect(error).toMatchObject({ status: 503, detail: "no: ***", kind: "ConnectionFailed" });
    expect(`${error.stack} ${String(error)}`).not.toContain(SECRET);
    expect(error.stack).not.toContain("s3cret");
  });

  it("loses a cause that contains the secret", () => {
    const error = redactError(toHubError(new TypeError(`Invalid header ${SECRET}`)), redact);
    expect(error).toMatchObject({ kind: "Unexpected", cause: undefined });
  });
});
