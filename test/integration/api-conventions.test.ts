// The conventions that every address of the management API keeps, through real sockets and real servers: repeated requests,
// wrong methods, several faults at once, results byte by byte, probes, and what the log is told.

import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client.ts";
import { readManagementToken } from "../../hub/src/auth/management-token.ts";
import { hubPaths } from "../../hub/src/config/paths.ts";
import { Hub } from "../../hub/src/hub.ts";
import { startLog } from "../../hub/src/log.ts";
import type { CallLog } from "../../hub/src/calls/log.ts";
import { recordedIn } from "../support/calls.ts";
import { openManaged, type Asked, type ManagedHub } from "../support/api.ts";
import { fixture, makeHome } from "../support/hub.ts";
import { http } from "../support/rpc.ts";

let managed: ManagedHub;
beforeAll(async () => {
  managed = await openManaged({ echo: fixture("echo") });
  await managed.hub.start();
});
afterAll(async () => expect(await managed.end()).toEqual([]));

const ask = (path: string, asked?: Asked) => managed.ask(path, asked);
const keyed = (path: string, key: string, body: unknown) =>
  ask(path, { method: "POST", body, headers: { "idempotency-key": key } });
const calls = async () => (await managed.client.calls({ limit: 1000 })).items.length;
/** How many calls the server has seen, this one included. */
const callsHeard = async () => {
  const { content } = await managed.client.callTool({ server_name: "echo", tool_name: "heard" });
  const [block] = content as { text: string }[];
  const heard: unknown[] = JSON.parse(block?.text ?? "[]");
  return heard.filter((what) => what === "tools/call").length;
};
const CALL = "/servers/echo/tools/add/call";

describe("Idempotency-Key", () => {
  it("a call is made once, and its answer given twice", async () => {
    const before = await calls();
    const first = await keyed(CALL, "call-1", { arguments: { a: 1, b: 2 } });
    const second = await keyed(CALL, "call-1", { arguments: { a: 1, b: 2 } });
    expect(first.headers).not.toHaveProperty("idempotency-replayed");
    expect(second.headers["idempotency-replayed"]).toBe("true");
    expect([second.status, second.body]).toEqual([first.status, first.body]);
    expect(second.headers["x-request-id"]).not.toBe(first.headers["x-request-id"]);
    expect((await calls()) - before).toBe(1);
  });

  it("of many at once, one is carried out and the others wait for it", async () => {
    const before = await calls();
    const body = { arguments: { ms: 100 } };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => keyed("/servers/echo/tools/sleep/call", "many", body)),
    );
    expect(new Set(answers.map((answer) => answer.body)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers["idempotency-replayed"] === "true")).toHaveLength(4);
    expect((await calls()) - before).toBe(1);
  });

  it.each<[string, string, unknown]>([
    ["another body", CALL, { arguments: { a: 1, b: 3 } }],
    ["another address", "/servers/echo/tools/echo/call", { arguments: { a: 1, b: 2 } }],
    ["another query", `${CALL}?raw=true`, { arguments: { a: 1, b: 2 } }],
    ["another route", "/groups", { arguments: { a: 1, b: 2 } }],
  ])("with %s it is a conflict, and nothing is done", async (_, path, body) => {
    await keyed(CALL, "taken", { arguments: { a: 1, b: 2 } });
    const before = await calls();
    const { status, json } = await keyed(path, "taken", body);
    expect(status).toBe(409);
    expect(json).toMatchObject({
      code: "CONFLICT",
      kind: "IdempotencyKeyReused",
      field: "idempotency-key",
      hint: expect.any(String),
    });
    expect(await calls()).toBe(before);
  });

  it("a server and a group are created once, with the same address and revision in both answers", async () => {
    const server = { name: "made", command: "/bin/true", enabled: false };
    const answers = [await keyed("/servers", "server", server), await keyed("/servers", "server", server)];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers[1]?.headers).toMatchObject({
      location: "/api/v1/servers/made",
      etag: answers[0]?.headers["etag"],
      "content-type": expect.stringContaining("application/json"),
    });
    expect((await ask("/servers", { method: "POST", body: server })).json.kind).toBe("ServerAlreadyExists");
    const group = { name: "crew", servers: ["echo"] };
    const made = [await keyed("/groups", "group", group), await keyed("/groups", "group", group)];
    expect(made.map(({ status, headers }) => [status, headers["location"]])).toEqual([
      [201, "/api/v1/groups/crew"],
      [201, "/api/v1/groups/crew"],
    ]);
    const again = await ask("/groups", { method: "POST", body: group });
    expect(again.json).toMatchObject({ status: 409, kind: "GroupAlreadyExists", field: "name" });
    expect((await ask("/groups", { method: "POST", body: {} })).json).toMatchObject({ status: 400, field: "name" });
  });

  it("a refusal is given again; a failure of the server is not, and the next one is tried", async () => {
    for (const replayed of [undefined, "true"]) {
      const { status, headers } = await keyed("/servers/nobody/tools/x/call", "refused", {});
      expect([status, headers["idempotency-replayed"]]).toEqual([404, replayed]);
    }
    const before = await calls();
    for (let n = 1; n <= 2; n++) {
      const { status, headers } = await keyed("/servers/echo/tools/hang/call", "failed", { timeout_ms: 50 });
      expect([status, headers["idempotency-replayed"]]).toEqual([504, undefined]);
      expect((await calls()) - before).toBe(n);
    }
  });

  it("F46 a client that goes away finds its answer when it comes back", async () => {
    const sleeps = async () => (await managed.client.calls({ tool: "sleep", limit: 1000 })).items.length;
    const before = await sleeps();
    const heardBefore = await callsHeard();
    const body = JSON.stringify({ arguments: { ms: 300 } });
    const { port, hostname } = new URL(managed.url);
    const socket = connect(Number(port), hostname);
    const head = `POST /api/v1/servers/echo/tools/sleep/call HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${managed.token}\r\nContent-Type: application/json\r\nIdempotency-Key: gone\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await new Promise<void>((resolve) => socket.write(head, () => resolve()));
    // Looking is a call too: ours has arrived when there is one more.
    for (let looks = 1; (await callsHeard()) - heardBefore === looks; looks++);
    socket.destroy();
    const { json, headers } = await keyed("/servers/echo/tools/sleep/call", "gone", { arguments: { ms: 300 } });
    expect(json).toMatchObject({ success: true });
    expect(headers["idempotency-replayed"]).toBe("true");
    expect((await sleeps()) - before).toBe(1);
  });

  it("a key that is none is refused; where none is taken it means nothing", async () => {
    expect((await keyed(CALL, "a b", {})).json).toMatchObject({ status: 400, field: "idempotency-key" });
    for (let n = 0; n < 2; n++) {
      const { headers } = await ask("/config/validate", {
        method: "POST",
        body: {},
        headers: { "idempotency-key": "validate" },
      });
      expect(headers).not.toHaveProperty("idempotency-replayed");
    }
  });

  it("the client sends it", async () => {
    const before = await calls();
    const options = { idempotencyKey: "from-client" };
    const request = { server_name: "echo", tool_name: "add", arguments: { a: 20, b: 22 } };
    const first = await managed.client.callTool(request, options);
    expect(await managed.client.callTool(request, options)).toEqual(first);
    expect((await calls()) - before).toBe(1);
    const made = await managed.client.createGroup("keyed", { servers: [] }, options).catch((error: unknown) => error);
    expect(made).toMatchObject({ kind: "IdempotencyKeyReused" });
  });
});

describe("a method that an address does not take", () => {
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
  ])("%s %s: 405, and what it takes", async (method, path, allow) => {
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

  it("HEAD is GET without its body, but no stream", async () => {
    const head = (path: string) =>
      http(`${managed.url}/api/v1${path}`, { method: "HEAD", headers: { authorization: `Bearer ${managed.token}` } });
    expect(await head("/status")).toMatchObject({ status: 200, body: "" });
    expect((await head("/events")).status).toBe(405);
  });

  it.each(["/nothing", "/servers/a/b/c", "/openapiXjson"])("%s is not there at all", async (path) => {
    for (const method of ["GET", "DELETE"]) expect((await ask(path, { method })).status).toBe(404);
  });

  it.each(["/livez", "/readyz", "/healthz"])("%s takes GET and HEAD alone", async (path) => {
    const { status, headers, body } = await http(managed.url + path, { method: "POST" });
    expect([status, headers["allow"]]).toEqual([405, "GET, HEAD"]);
    expect(JSON.parse(body)).toMatchObject({ code: "VALIDATION_ERROR", instance: headers["x-request-id"] });
    expect((await http(managed.url + path, { method: "HEAD" })).status).toBe(200);
  });
});

describe("problems", () => {
  it("several faults are told at once; the first is the error", async () => {
    const { json } = await ask("/calls?limit=0&success=perhaps&colour=red");
    expect(json).toMatchObject({ status: 400, code: "VALIDATION_ERROR", kind: "InvalidConfig", field: "success" });
    expect(json.errors.map(({ field, code }: Record<string, string>) => [field, code])).toEqual([
      ["success", "VALIDATION_ERROR"],
      ["limit", "VALIDATION_ERROR"],
      ["colour", "VALIDATION_ERROR"],
    ]);
    expect(json.message).toBe(json.errors[0].message);
    expect((await ask("/calls?limit=0")).json).not.toHaveProperty("errors");
  });

  it("an unknown secret has a kind of its own", async () => {
    await managed.hub.secrets.set("known", "value");
    const { json } = await ask("/secrets/nothing", { method: "DELETE" });
    expect(json).toMatchObject({ status: 404, code: "NOT_FOUND", kind: "SecretNotFound", hint: "Secrets: known" });
    await expect(managed.client.deleteSecret("nothing")).rejects.toMatchObject({ kind: "SecretNotFound" });
  });

  it("outside of the API they have the same form", async () => {
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

describe("CL-5 GR-5 what a server answers, byte by byte", () => {
  const RESULT = '"depth":1.0,"id":12345678901234567890';

  it.each(["/servers/echo/tools/unknown_fields/call", "/groups/default/tools/echo%3Aunknown_fields/call"])(
    "%s?raw=true",
    async (path) => {
      const { status, body } = await ask(`${path}?raw=true`, { method: "POST", body: {} });
      expect(status).toBe(200);
      expect(body).toContain(RESULT);
      expect(body).toContain('"structuredContent":{"n":0.10}');
      expect(body).not.toContain("duration_ms");
    },
  );

  it("numbers of the arguments keep their digits on their way to the server", async () => {
    const body = '{"arguments": {"text": "x", "n": 12345678901234567890, "m": 1.0}}';
    await ask("/servers/echo/tools/echo/call", { method: "POST", body });
    expect(await recordedIn(managed.paths.data)).toContain('"n": 12345678901234567890, "m": 1.0');
  });

  it("an error of the server is a problem then", async () => {
    const { json } = await ask("/servers/echo/tools/rpc_error/call?raw=true", { method: "POST", body: {} });
    expect(json).toMatchObject({ status: 503, kind: "ToolFailed", detail: "no such luck" });
  });
});

describe("T50 what nobody foresaw", () => {
  it("is in the structured log, under the id of its request and without secrets", async () => {
    const home = await makeHome({
      echo: { ...fixture("echo"), env: { API_KEY: "planted-in-error-4711" } },
    });
    const lines: string[] = [];
    const paths = hubPaths({ env: home.env, platform: process.platform, home: home.dir });
    const broken = new TypeError("cannot read planted-in-error-4711");
    const callLog: CallLog = {
      begin: () => ({ finish() {} }),
      recover() {},
      query: () => Promise.reject(broken),
      stats: () => Promise.reject(broken),
      prune: () => Promise.resolve(0),
      degraded: undefined,
      lost: 0,
      close: () => Promise.resolve(),
    };
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
      await expect(new HubClient({ url, token }).calls()).rejects.toMatchObject({ kind: "Unexpected" });
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
        callLog: {
          query: () => Promise.resolve({ items: [], next_cursor: null }),
          stats: () => Promise.resolve([]),
          get degraded() {
            return degraded;
          },
        },
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
