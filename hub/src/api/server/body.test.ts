import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { HubError } from "../../errors.ts";
import { MAX_BODY_BYTES, readBody } from "./body.ts";
import type { HttpFailure } from "../../http/problem.ts";

function request(body: string | Buffer | undefined, headers: Record<string, string> = {}): Request {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers } };
  return new Request("http://localhost/", body === undefined ? init : { ...init, body });
}

const refusal = (asked: Request): Promise<HubError & HttpFailure> =>
  readBody(asked).then(
    () => Promise.reject(new Error("Accepted")),
    (error: HubError & HttpFailure) => error,
  );

const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`;

describe("a body", () => {
  it.each(["application/json", "application/json; charset=utf-8", "Application/JSON", "application/merge-patch+json"])(
    "of type %s is read",
    async (type) =>
      expect(await readBody(request('{"a":[1,null]}', { "content-type": type }))).toMatchObject({
        json: { a: [1, null] },
      }),
  );

  it("may be missing", async () => {
    expect((await readBody(request(undefined))).json).toBeUndefined();
    expect((await readBody(request(""))).json).toBeUndefined();
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "",
    "application/jsonx",
    "text/json",
  ])("T03 of type %j is refused", async (type) =>
    expect(await refusal(request("{}", { "content-type": type }))).toMatchObject({ status: 415 }),
  );

  it.each([
    ['{"name":"z3","name":"z4"}', 'Duplicate key "name"'],
    ['{"a":"\\ud800"}', "surrogate"],
    [`{"a":[${"1,".repeat(100_000)}1]}`, "more than 100000 elements"],
  ])("T20 T36 with the text %.30s is refused", async (text, problem) => {
    const { message } = (await refusal(request(text))) as { message: string };
    expect(message).toContain(problem);
  });

  it("T23 that is compressed is refused", async () => {
    const asked = request(gzipSync("{}"), { "content-encoding": "gzip" });
    expect(await refusal(asked)).toMatchObject({ status: 415 });
  });

  it.each([
    ["a list", "[]"],
    ["a text", '"x"'],
    ["a number", "42"],
    ["null", "null"],
    ["broken", '{"a":'],
    ["half JSON", '{"a":1}x'],
    ["with a BOM", '\uFEFF{"a":1}'],
    ["not UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ["with a NUL", '{"a":\u00001}'],
    ["too deep", nested(65)],
    ["far too deep", nested(20_000)],
  ])("T20 that is %s is refused", async (_, body) => {
    expect(await refusal(request(body))).toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it("T20 may have 64 levels", async () => {
    expect(JSON.stringify((await readBody(request(nested(64)))).json)).toBe(nested(64));
  });

  it("T20 may have the maximum size, but not one byte more", async () => {
    const of = (bytes: number) => request(`{"a":"${"x".repeat(bytes - 8)}"}`);
    await expect(readBody(of(MAX_BODY_BYTES))).resolves.toBeDefined();
    expect(await refusal(of(MAX_BODY_BYTES + 1))).toMatchObject({ kind: "PayloadTooLarge" });
  });
});
