// Conventions of all routes of the management API: creation, wrong methods, several errors at once, raw results, probes, and
// logged errors.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client/client.ts";
import { readManagementToken } from "../../hub/src/auth/management-token.ts";
import { hubPaths } from "../../hub/src/config/files/paths.ts";
import { Hub } from "../../hub/src/hub/hub.ts";
import { startLog } from "../../hub/src/log/log.ts";
import { recordedIn } from "../support/calls.ts";
import { openManaged, type Asked, type ManagedHub, logWith } from "../support/api.ts";
import { fixture, makeHome } from "../support/hub.ts";
import { http } from "../support/rpc.ts";

let managed: ManagedHub;
beforeAll(async () => {
  managed = await openManaged({ echo: fixture("echo") });
  await managed.hub.start();
});
afterAll(async () => expect(await managed.end()).toEqual([]));

const ask = (path: string, asked?: Asked) => managed.ask(path, asked);

describe("creating", () => {
  it("answers 201 with the address of the new server or group, and 409 if the name is taken", async () => {
    const server = { name: "made", command: "/bin/true", enabled: false };
    const created = await ask("/servers", { method: "POST", body: server });
    expect(created.status).toBe(201);
    expect(created.headers).toMatchObject({
      location: "/api/v1/servers/made",
      etag: expect.any(String),
      "content-type": expect.stringContaining("application/json"),
    });
    expect((await ask("/servers", { method: "POST", body: server })).json.kind).toBe("ServerAlreadyExists");
    const group = { name: "crew", servers: ["echo"] };
    const made = await ask("/groups", { method: "POST", body: group });
    expect([made.status, made.headers["location"]]).toEqual([201, "/api/v1/groups/crew"]);
    const again = await ask("/groups", { method: "POST", body: group });
    expect(again.json).toMatchObject({ status: 409, kind: "GroupAlreadyExists", field: "name" });
    expect((await ask("/groups", { method: "POST", body: {} })).json).toMatchObject({ status: 400, field: "name" });
  });
});

describe("wrong methods", () => {
  it.each([
    ["DELETE", "/status", "GET"],
    ["PUT", "/servers", "GET, POST"],
    ["PATCH", "/groups/default", "DELETE, GET, PUT"],
    ["OPTIONS", "/servers/echo", "DELETE, GET, PATCH, PUT"],
    ["GET", "/servers/echo/start", "POST"],
    ["GET", "/servers/echo/tools/add/call", "POST"],
    ["POST", "/openapi.json", "GET"],
    ["POST", "/secrets/a%2Fb", "DELETE, PUT"],
    ["REPORT", "/servers", "GET, POST"],
  ])("%s %s answers 405 with Allow", async (method, path, allow) => {
    const { status, headers, json } = await ask(path, { method });
    expect([status, headers["allow"], headers["content-type"]]).toEqual([405, allow, "application/problem+json"]);
    expect(json).toMatchObject({
      status: 405,
      code: "VALIDATION_ERROR",
      kind: null,
      field: null,
      instance: headers["x-request-id"],
    });
  });

  it("HEAD is GET without a body, and not available for streams", async () => {
    const head = (path: string) =>
      http(`${managed.url}/api/v1${path}`, { method: "HEAD", headers: { authorization: `Bearer ${managed.token}` } });
    expect(await head("/status")).toMatchObject({ status: 200, body: "" });
    expect((await head("/events")).status).toBe(405);
  });

  it.each(["/nothing", "/servers/a/b/c", "/openapiXjson"])("%s answers 404", async (path) => {
    for (const method of ["GET", "DELETE"]) expect((await ask(path, { method })).status).toBe(404);
  });

  it.each(["/livez", "/readyz", "/healthz"])("%s takes only GET and HEAD", async (path) => {
    const { status, headers, body } = await http(managed.url + path, { method: "POST" });
    expect([status, headers["allow"]]).toEqual([405, "GET, HEAD"]);
    expect(JSON.parse(body)).toMatchObject({ code: "VALIDATION_ERROR", instance: headers["x-request-id"] });
    expect((await http(managed.url + path, { method: "HEAD" })).status).toBe(200);
  });
});

describe("problems", () => {
  it("several invalid inputs are reported at once; the first is the error", async () => {
    const { json } = await ask("/calls?limit=0&success=perhaps&colour=red");
    expect(json).toMatchObject({ status: 400, code: "VALIDATION_ERROR", kind: "InvalidArgument", field: "success" });
    expect(json.errors.map(({ field, code }: Record<string, string>) => [field, code])).toEqual([
      ["success", "VALIDATION_ERROR"],
      ["limit", "VALIDATION_ERROR"],
      ["colour", "VALIDATION_ERROR"],
    ]);
    expect(json.message).toBe(json.errors[0].message);
    expect((await ask("/calls?limit=0")).json).not.toHaveProperty("errors");
  });

  it("an unknown secret has its own kind", async () => {
    await managed.hub.secrets.set("known", "value");
    const { json } = await ask("/secrets/nothing", { method: "DELETE" });
    expect(json).toMatchObject({ status: 404, code: "NOT_FOUND", kind: "SecretNotFound", hint: "Secrets: known" });
    await expect(managed.client.secrets.delete("nothing")).rejects.toMatchObject({ kind: "SecretNotFound" });
  });

  it("have the same format outside the API", async () => {
    const { status, headers, body } = await http(`${managed.url}/elsewhere`, {
      method: "GET",
      headers: { "x-request-id": "mine" },
    });
    expect([status, headers["content-type"], headers["x-request-id"]]).toEqual([
      404,
      "application/problem+json",
      "mine",
    ]);
    expect(JSON.parse(body)).toMatchObject({ code: "NOT_FOUND", instance: "mine", field: null });
  });
});

describe("CL-5 GR-5 raw results of a server", () => {
  const RESULT = '"depth":1.0,"id":12345678901234567890';

  it.each(["/servers/echo/tools/unknown_fields/call", "/groups/default/tools/echo%3Aunknown_fields/call"])(
    "%s?raw=true answers with the unchanged bytes",
    async (path) => {
      const { status, body } = await ask(`${path}?raw=true`, { method: "POST", body: {} });
      expect(status).toBe(200);
      expect(body).toContain(RESULT);
      expect(body).toContain('"structuredContent":{"n":0.10}');
      expect(body).not.toContain("duration_ms");
    },
  );

  it("numbers in arguments reach the server with all digits", async () => {
    const body = '{"arguments": {"text": "x", "n": 12345678901234567890, "m": 1.0}}';
    await ask("/servers/echo/tools/echo/call", { method: "POST", body });
    expect(await recordedIn(managed.paths.data)).toContain('"n": 12345678901234567890, "m": 1.0');
  });

  it("an error of the server becomes a problem", async () => {
    const { json } = await ask("/servers/echo/tools/rpc_error/call?raw=true", { method: "POST", body: {} });
    expect(json).toMatchObject({ status: 502, kind: "ToolFailed", detail: "no such luck" });
  });
});

describe("T50 unexpected errors", () => {
  it("are logged with the id of the request and without secrets", async () => {
    const home = await makeHome({
      echo: { ...fixture("echo"), env: { API_KEY: "planted-in-error-4711" } },
    });
    const lines: string[] = [];
    const paths = hubPaths({ env: home.env, platform: process.platform, home: home.dir });
    const broken = new TypeError("cannot read planted-in-error-4711");
    const callLog = logWith({ query: () => Promise.reject(broken), stats: () => Promise.reject(broken) });
    const hub = await Hub.open({ paths, variables: home.env, callLog: () => callLog });
    try {
      startLog(hub.events, { write: (line) => void lines.push(line) });
      const url = await hub.listen({ host: "127.0.0.1", port: 0 });
      await hub.start();
      const token = (await readManagementToken(paths.data)) ?? "";
      const { status, body } = await http(`${url}/api/v1/calls`, {
        method: "GET",
        headers: { authorization: `Bearer ${token}`, "x-request-id": "look-here" },
      });
      expect([status, JSON.parse(body)]).toMatchObject([500, { kind: "Unexpected", instance: "look-here" }]);
      const logged = lines.map((line) => JSON.parse(line)).filter(({ request_id }) => request_id === "look-here");
      expect(logged).toMatchObject([
        { level: 50, msg: "unexpected error", error: expect.stringMatching(/^TypeError: cannot read .*\n +at /) },
      ]);
      expect(lines.join("")).not.toContain("planted-in-error-4711");
      await expect(new HubClient({ url, token }).calls.list()).rejects.toMatchObject({ kind: "Unexpected" });
    } finally {
      await hub.stop();
      await home.remove();
    }
  });
});

describe("MG-3 ready", () => {
  it("is a hub that can record; one that cannot is alive all the same", async () => {
    let degraded: string | undefined = "The disk is full";
    const own = await openManaged(
      {},
      {
        callLog: logWith({
          get degraded() {
            return degraded;
          },
        }),
      },
    );
    try {
      const probe = async (path: string) => (await http(own.url + path, { method: "GET" })).status;
      expect([await probe("/readyz"), await probe("/livez"), await probe("/healthz")]).toEqual([503, 200, 200]);
      degraded = undefined;
      expect(await probe("/readyz")).toBe(200);
    } finally {
      expect(await own.end()).toEqual([]);
    }
  });
});
