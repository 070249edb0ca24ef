// The tools of a group over REST: the document is valid OpenAPI 3.1, and what it describes can be called, by the rules of the group's
// MCP endpoint.

import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HubClient } from "../../hub/src/api/client/client.ts";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, published, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { http } from "../support/rpc.ts";

let home: Home;
let hub: RunningHub;
let api: HubClient;

beforeAll(async () => {
  home = await makeHome(
    { files: fixture("files"), everything: published("server-everything"), rich: fixture("rich", "legacy") },
    {
      plain: { description: "Plain", servers: ["files"] },
      changed: {
        servers: ["everything"],
        tools: { "everything:get-sum": { as: "add_ten", description: "Adds ten", arguments: { b: { const: 10 } } } },
      },
      careful: { servers: ["files"], approve: "always" },
      limited: { servers: ["files"], results: { max_bytes: 2000 } },
      searched: { servers: ["files"], exposure: "search" },
      closed: { servers: ["files"], access: [] },
    },
  );
  hub = await startHub(home);
  api = await clientOf(hub);
});

afterAll(async () => {
  await hub?.stop();
  await home?.remove();
});

const call = async (path: string, body: unknown = {}, headers: Record<string, string> = {}) => {
  const answer = await http(`${hub.url}/groups/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { ...answer, json: answer.body === "" ? undefined : JSON.parse(answer.body) };
};

async function documentOf(group: string) {
  const { status, body } = await http(`${hub.url}/groups/${group}/openapi.json`, { method: "GET" });
  expect(status).toBe(200);
  return JSON.parse(body);
}

describe("MG-3 the document of a group", () => {
  it.each(["plain", "changed", "searched", "default"])(
    "%s is valid, with one operation for each tool",
    async (group) => {
      const document = await documentOf(group);
      expect(document.openapi).toBe("3.1.0");
      const { valid, errors } = await new Validator().validate(structuredClone(document));
      expect(errors).toBeUndefined();
      expect(valid).toBe(true);
      const names = Object.values<{ post: { operationId: string } }>(document.paths).map(
        ({ post }) => post.operationId,
      );
      expect(names).toEqual((await api.groups.tools(group)).map(({ name }) => name));
      expect(new Set(names).size).toBe(names.length);
      expect(document.servers).toEqual([{ url: hub.url }]);
      expect(document.components.securitySchemes).toEqual({ access_token: { type: "http", scheme: "bearer" } });
    },
  );

  it("describes tools as the group changes them", async () => {
    const { paths, components } = await documentOf("changed");
    expect(paths["/groups/changed/tools/add_ten"].post).toMatchObject({
      operationId: "add_ten",
      description: "Adds ten",
      requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/add_ten.input" } } } },
    });
    expect(Object.keys(components.schemas["add_ten.input"].properties)).toEqual(["a"]);
  });

  it("moves the references inside a schema to where the schema is", async () => {
    const { components } = await documentOf("default");
    expect(components.schemas["rich__everything.output"].properties.below).toEqual({
      $ref: "#/components/schemas/rich__everything.output",
    });
  });
});

describe("GR-5 a call over REST", () => {
  it("answers with the JSON or the text of the result", async () => {
    expect(await call("changed/tools/add_ten", { a: 5 })).toMatchObject({
      status: 200,
      json: "The sum of 5 and 10 is 15.",
    });
    expect(await call("plain/tools/rows", { count: 2 })).toMatchObject({
      status: 200,
      json: { total: 2, rows: [{}, {}] },
    });
    expect((await call("plain/tools/counts")).json).toMatchObject({ read: expect.any(Number) });
    expect((await call("plain/tools/blocks", { size: 10 })).json).toHaveLength(4);
    expect((await call("searched/tools/note", "")).json).toBe("note {}");
    expect(await call("plain/tools/note", '{"path":12345678901234567890}')).toMatchObject({ status: 200 });
  });

  it.each<[path: string, body: unknown, status: number, kind: string | null]>([
    ["plain/tools/absent", {}, 404, "ToolNotFound"],
    ["absent/tools/note", {}, 404, "GroupNotFound"],
    ["changed/tools/add_ten", { a: 5, b: 6 }, 400, "InvalidArgument"],
    ["plain/tools/text", { size: 10, fail: true }, 502, "ToolFailed"],
    ["plain/tools/note", "[1]", 400, "SerializationError"],
    ["plain/tools/note", "{", 400, "SerializationError"],
    ["plain/tools/note", '{"a":1,"a":2}', 400, "SerializationError"],
  ])("POST %s with %j is a problem: %s %s", async (path, body, status, kind) => {
    const answer = await call(path, body);
    expect([answer.status, answer.headers["content-type"], answer.json.kind]).toEqual([
      status,
      "application/problem+json",
      kind,
    ]);
  });

  it.each([
    ["GET", "plain/tools/note", 405],
    ["POST", "plain/openapi.json", 405],
  ])("%s %s has the status %s", async (method, path, status) => {
    expect((await http(`${hub.url}/groups/${path}`, { method })).status).toBe(status);
  });

  it("T06 is open to those who may use the group, and to nobody else", async () => {
    const tokenFor = async (name: string, groups: string[], read_only = false) =>
      `Bearer ${(await api.tokens.create({ name, groups, read_only, for: name })).token}`;
    const [plain, other, reader] = [
      await tokenFor("plain", ["plain"]),
      await tokenFor("other", ["changed"]),
      await tokenFor("reader", ["plain"], true),
    ];
    expect(await call("plain/tools/note", {}, { authorization: plain })).toMatchObject({ status: 200 });
    expect(await call("plain/tools/note", {}, { authorization: other })).toMatchObject({ status: 404 });
    expect(await call("closed/tools/note", {}, { authorization: plain })).toMatchObject({ status: 404 });
    expect(await call("plain/tools/note", {}, { authorization: "Bearer pbt_wrong" })).toMatchObject({ status: 401 });
    expect(await call("plain/tools/note", {}, { authorization: reader })).toMatchObject({ status: 404 });
    expect(await call("plain/tools/read", {}, { authorization: reader })).toMatchObject({ status: 200 });
    const { body } = await http(`${hub.url}/groups/plain/openapi.json`, {
      method: "GET",
      headers: { authorization: reader },
    });
    expect(Object.keys(JSON.parse(body).paths)).not.toContain("/groups/plain/tools/note");
  });

  it("RG-2 waits for approval, and is refused with a problem", async () => {
    const called = call("careful/tools/note", { path: "x" });
    await expect.poll(() => api.approvals.list()).toHaveLength(1);
    const [waiting] = await api.approvals.list();
    await api.approvals.deny(waiting?.id ?? "", { reason: "no" });
    expect(await called).toMatchObject({ status: 403, json: { kind: "NotApproved" } });
  });

  it("RG-3 is cut at the limit of the group", async () => {
    const { json, body } = await call("limited/tools/text", { size: 20_000 });
    expect(body.length).toBeLessThan(4000);
    expect(JSON.stringify(json)).toContain("was cut");
  });

  it("RS-4 is in the call log, with the client and both names", async () => {
    await call("changed/tools/add_ten", { a: 1 }, { "plugboard-client": "open-webui" });
    const [row] = (await api.calls.list({ group: "changed", client: "open-webui", limit: 1 })).items;
    expect(row).toMatchObject({ tool_name: "get-sum", exposed_name: "add_ten", client: "open-webui", outcome: "ok" });
  });
});
