// The error contract in real requests: each kind of error with its code, HTTP status and message. problem.test.ts checks the
// complete table of errors.ts.

import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ERRORS, type ErrorKind } from "../../hub/src/errors.ts";
import { openManaged, type Asked, type ManagedHub } from "../support/api.ts";
import { failing, fixture } from "../support/hub.ts";
import { untilState } from "../support/in-process.ts";
import { listen } from "../support/sockets.ts";

let managed: ManagedHub;
let refusing: Server;

beforeAll(async () => {
  // An MCP server that refuses every request. The path selects how.
  const refusals = new Map<string | undefined, [status: number, headers?: Record<string, string>]>([
    ["/login", [401, { "www-authenticate": 'Bearer resource_metadata="https://login.example/metadata"' }]],
    ["/key", [401]],
    ["/forbidden", [403]],
  ]);
  refusing = createServer(({ url }, response) => response.writeHead(...(refusals.get(url) ?? [404])).end());
  const port = await listen(refusing);
  const at = (path: string) => ({ url: `http://127.0.0.1:${port}/${path}`, timeouts: { start_ms: 10_000 } });
  managed = await openManaged({
    echo: fixture("echo"),
    stopped: fixture("echo"),
    off: { ...fixture("echo"), enabled: false },
    missing: { command: "no-such-program-anywhere" },
    ends: failing(),
    refuses: fixture("paged", "broken"),
    silent: { ...fixture("hung"), timeouts: { start_ms: 300 } },
    unset: { ...fixture("echo"), env: { KEY: "${NOT_SET_ANYWHERE}" } },
    gone: { url: "http://127.0.0.1:1/mcp", timeouts: { start_ms: 10_000 } },
    closed: at("login"),
    keyed: at("key"),
    forbidden: at("forbidden"),
  });
  await managed.hub.start();
  await managed.hub.supervisor.get("stopped").stop();
});

afterAll(async () => {
  expect(await managed.end()).toEqual([]);
  refusing.closeAllConnections();
  refusing.close();
});

const post = (body?: unknown): Asked => ({ method: "POST", ...(body === undefined ? {} : { body }) });

describe("MG-3 each kind of error, in real requests", () => {
  it.each<[ErrorKind, string, path: string, asked: Asked, message: string | RegExp]>([
    ["InvalidConfig", "an entry without a name", "/servers", post({ command: "x" }), "Name is required"],
    ["InvalidConfig", "a variable that is not set", "/servers/unset/start", post(), "Missing required credentials"],
    ["SerializationError", "a body that is no JSON", "/servers", post("{"), /JSON/],
    ["Unauthenticated", "no token", "/status", { headers: { authorization: "" } }, /token/i],
    ["Unauthenticated", "a server that wants a key", "/servers/keyed/start", post(), /asks for credentials/],
    ["LoginRequired", "a server that wants a login", "/servers/closed/start", post(), /needs a login/],
    ["Forbidden", "a server that lets nobody in", "/servers/forbidden/start", post(), /./],
    ["ServerNotFound", "a server that is not there", "/servers/nobody/start", post(), /nobody/],
    ["ToolNotFound", "a tool that is not there", "/servers/echo/tools/nothing/call", post({}), "Tool not found"],
    ["GroupNotFound", "a group that is not there", "/groups/nothing/tools", {}, /nothing|Group not found/],
    ["PackageNotFound", "a program that is not there", "/servers/missing/start", post(), "Package not found"],
    ["ServerAlreadyExists", "a name that is taken", "/servers", post({ name: "echo", command: "x" }), /already/],
    ["ServerDisabled", "a server that is off", "/servers/off/start", post(), /disabled/],
    [
      "Conflict",
      "a config that changed",
      "/servers/echo",
      { method: "PATCH", body: {}, headers: { "if-match": '"old"' } },
      /./,
    ],
    ["PayloadTooLarge", "a body of 2 MiB", "/servers", post(Buffer.alloc(2 << 20, 0x20)), /./],
    ["ProcessSpawnFailed", "a server that ends at once", "/servers/ends/start", post(), /exited with code 3/],
    ["ServerNotRunning", "tools of a server that is stopped", "/servers/stopped/tools", {}, "Server unavailable"],
    ["ServerNotRunning", "a call to one", "/servers/stopped/tools/add/call", post({}), "Server unavailable"],
    ["ConnectionFailed", "an address where nobody is", "/servers/gone/start", post(), /./],
    ["Timeout", "a server that says nothing", "/servers/silent/start", post(), "Handshake timed out"],
    ["Timeout", "a call that takes too long", "/servers/echo/tools/hang/call", post({ timeout_ms: 100 }), /./],
    ["ProtocolError", "a server that answers a list with an error", "/servers/refuses/start", post(), /./],
  ])("%s: %s", async (kind, _, path, asked, message) => {
    const { status, json } = await managed.ask(path, asked);
    const { code, http } = ERRORS[kind];
    const text = typeof message === "string" ? message : expect.stringMatching(message);
    expect({ status, ...json }).toMatchObject({ status: http, code, kind, message: text });
    expect(Object.keys(json)).toEqual(expect.arrayContaining(["code", "message", "field"]));
  });
});

describe("the status of a server", () => {
  it("MC-T9 LC-1 shows its real state, with a pid if and only if there is a process", async () => {
    await Promise.all(["ends", "missing"].map((name) => untilState(managed.hub, name, "error")));
    const shown = async (name: string) => {
      const { status, pid, tools, error } = (await managed.ask(`/servers/${name}`)).json;
      return [status, pid !== null, tools.length > 0, error?.code ?? null];
    };
    expect(await shown("echo")).toEqual(["running", true, true, null]);
    expect(await shown("stopped")).toEqual(["stopped", false, false, null]);
    expect(await shown("off")).toEqual(["disabled", false, false, null]);
    expect(await shown("missing")).toEqual(["error", false, false, "NOT_FOUND"]);
    const { pid } = managed.hub.supervisor.get("echo");
    const starting = managed.ask("/servers/stopped/start", post());
    await untilState(managed.hub, "stopped", "starting", "running");
    expect((await starting).json.status).toBe("running");
    process.kill(pid ?? 0, "SIGKILL");
    await untilState(managed.hub, "echo", "error", "disconnected", "starting");
    expect((await managed.ask("/servers/echo")).json.pid).not.toBe(pid);
  });
});
