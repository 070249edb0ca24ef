import { describe, expect, it } from "vitest";
import { ERRORS, HubError, type ErrorKind } from "../errors.ts";
import { HttpFailure, toProblem } from "./problem.ts";

describe("an error of the hub", () => {
  it.each(Object.entries(ERRORS))("%s keeps its status, code and kind", (kind, { http, code }) => {
    const { problem } = toProblem(new HubError(kind as ErrorKind, "What happened", { field: "env.A" }), "r1");
    expect(problem).toMatchObject({
      status: http,
      code,
      kind,
      message: "What happened",
      field: "env.A",
      instance: "r1",
    });
    expect(problem.type).toMatch(/^urn:plugboard:problem:[a-z-]+$/);
  });

  it("has every member of both contracts, also a null field", () => {
    const { problem, headers } = toProblem(new HubError("ServerNotFound", "There is no server", { hint: "ls" }), "r1");
    expect(problem).toEqual({
      type: "urn:plugboard:problem:server-not-found",
      title: "Server not found",
      status: 404,
      detail: "There is no server",
      instance: "r1",
      code: "NOT_FOUND",
      kind: "ServerNotFound",
      message: "There is no server",
      field: null,
      hint: "ls",
    });
    expect(headers).toEqual({});
  });

  it("has the detail of the error, if there is one", () => {
    const error = new HubError("ProcessSpawnFailed", "It ended", { detail: "last line of stderr" });
    expect(toProblem(error, "").problem).toMatchObject({ message: "It ended", detail: "last line of stderr" });
  });

  it("T04 Unauthenticated requests the token", () => {
    const { headers } = toProblem(new HubError("Unauthenticated", "No"), "");
    expect(headers).toEqual({ "www-authenticate": 'Bearer realm="plugboard"' });
  });

  it("T05 RateLimited has Retry-After", () => {
    const { problem, headers } = toProblem(new HubError("RateLimited", "Slowly", { retryAfterMs: 1500 }), "");
    expect(problem).toMatchObject({ status: 429, code: "RATE_LIMITED", retry_after_ms: 1500 });
    expect(headers).toEqual({ "retry-after": "2" });
  });
});

it("T50 an unexpected error reveals nothing", () => {
  const inner = new TypeError("cannot read /home/me/.config of 10.0.0.7", { cause: new Error("password=hunter2") });
  for (const thrown of [inner, "hunter2", { message: "hunter2" }, undefined, null]) {
    const { problem } = toProblem(thrown, "r1");
    expect(problem).toMatchObject({ status: 500, code: "INTERNAL", kind: "Unexpected" });
    expect(JSON.stringify(problem)).not.toMatch(/hunter2|home|10\.0|TypeError|at /);
  }
});

it("an error of HTTP itself has no kind", () => {
  expect(toProblem(new HttpFailure(415, "VALIDATION_ERROR", "JSON only"), "r1").problem).toEqual({
    type: "about:blank",
    title: "JSON only",
    status: 415,
    detail: "JSON only",
    instance: "r1",
    code: "VALIDATION_ERROR",
    kind: null,
    message: "JSON only",
    field: null,
  });
});
