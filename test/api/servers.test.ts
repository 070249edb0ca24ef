// Servers in the management API: what is shown of them, and which requests are refused.

import { describe, expect, it } from "vitest";
import { expectScenario, MERGE_PATCH, send, usePlantedHub, type Scenario } from "./planted-hub.ts";

const managed = usePlantedHub();
const get = async (path: string) => (await managed().ask(path)).json;

describe("MG-1 servers", () => {
  it("MG-1 list_mcp_servers: lists all servers with their real state", async () => {
    const { status, json } = await managed().ask("/servers");
    expect(status).toBe(200);
    expect(json.map((each: { config: { name: string }; status: string }) => [each.config.name, each.status])).toEqual([
      ["echo", "running"],
      ["second", "running"],
      ["remote", "disabled"],
      ["broken", "disabled"],
      ["arguments", "disabled"],
    ]);
  });

  it("MG-1 get_mcp_server: shows one server in full, by name or id", async () => {
    const json = await get("/servers/echo");
    expect(json).toMatchObject({
      config: {
        id: "echo",
        name: "echo",
        enabled: true,
        command: process.execPath,
        args: [expect.stringContaining("echo.mjs")],
        description: "Answers",
        groups: ["hinted"],
      },
      status: "running",
      resources: [{ uri: "test://static", name: "static", mime_type: "text/plain" }],
      kind: "binary",
      error: null,
      pid: managed().hub.supervisor.get("echo").pid,
      protocol_version: "2025-11-25",
      since: expect.stringMatching(/^\d{4}-.*Z$/),
      stage: null,
      groups: expect.arrayContaining(["desk", "hinted"]),
    });
    expect(json.tools).toContainEqual({
      name: "add",
      description: "The tool add",
      input_schema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
    });
    for (const at of [json.created_at, json.updated_at]) expect(new Date(at).toISOString()).toBe(at);
    expect((await get("/servers/id-of-second")).config.name).toBe("second");
  });

  it("SE-1 T12 secrets are shown as ***, references as written, and the rest in clear", async () => {
    const { config, secret_refs } = await get("/servers/echo");
    const { TEST_MARK: _, ...env } = config.env;
    expect(env).toEqual({
      API_KEY: "***",
      CODE: "***",
      HUB_TOKEN: "${HUB_VARIABLE}",
      STORED: "***",
      DB: "postgres://***@db/x",
      MODE: "fast",
    });
    expect(secret_refs).toEqual({ STORED: "service" });
    expect(config.config).toEqual({ apiKey: "***", colour: "blue" });
    expect((await get("/servers/remote")).config).toMatchObject({
      command: "http",
      args: [],
      type: "http",
      url: "http://***@127.0.0.1:1/mcp?api_key=***&page=1",
      headers: { Authorization: "***", "X-Other": "***" },
    });
    expect((await get("/servers/arguments")).config.args).toEqual([
      "--token",
      "***",
      "--password=***",
      "-e",
      "API_KEY=***",
    ]);
  });

  it("T12 text that repeats a stored secret is hidden in every view, and kept when it is sent back", async () => {
    const value = "st0red-4711-s3cret";
    await send(managed(), "PUT /secrets/repeated", { body: { value } });
    const entry = { name: "repeats", enabled: false, command: "node", args: ["--as", value], env: { PLAIN: value } };
    expect((await send(managed(), "POST /servers", { body: entry })).status).toBe(201);
    const { config } = await get("/servers/repeats");
    expect(config).toMatchObject({ args: ["--as", "***"], env: { PLAIN: "***" } });
    for (const path of ["/servers", "/config", "/config/export"]) {
      expect(JSON.stringify(await get(path))).not.toContain(value);
    }
    await send(managed(), "PUT /servers/repeats", { body: { ...config, description: "edited" } });
    await send(managed(), "PATCH /servers/repeats", { body: { description: "again" } });
    await send(managed(), "DELETE /secrets/repeated");
    expect((await get("/servers/repeats")).config).toMatchObject({
      description: "again",
      args: ["--as", value],
      env: { PLAIN: value },
    });
    await send(managed(), "DELETE /servers/repeats");
  });
});

const BAD_ARGUMENT = { code: "VALIDATION_ERROR", kind: "InvalidArgument" };
const INVALID = { code: "VALIDATION_ERROR", kind: "InvalidConfig" };
const NOT_FOUND = { code: "NOT_FOUND", kind: "ServerNotFound" };
const DISABLED = { code: "CONFLICT", kind: "ServerDisabled" };
const TAKEN = { code: "CONFLICT", kind: "ServerAlreadyExists" };
const PRIVILEGED = { command: "docker", args: ["run", "--privileged", "x"] };

const REFUSED: readonly Scenario[] = [
  {
    title: "MC-NT2 getting an unknown server",
    request: "GET /servers/nobody",
    status: 404,
    contains: NOT_FOUND,
  },
  {
    title: "MC-NT2 starting an unknown server",
    request: "POST /servers/nobody/start",
    status: 404,
    contains: NOT_FOUND,
  },
  {
    title: "MC-NT1 starting a disabled server",
    request: "POST /servers/broken/start",
    status: 409,
    contains: DISABLED,
  },
  {
    title: "MC-NT1 restarting a disabled server",
    request: "POST /servers/broken/restart",
    status: 409,
    contains: DISABLED,
  },
  {
    title: "listing the tools of a disabled server",
    request: "GET /servers/broken/tools",
    status: 503,
    contains: { code: "SERVICE_UNAVAILABLE", kind: "ServerNotRunning" },
  },
  {
    title: "MC-NT3 adding a server without a name",
    request: "POST /servers",
    body: { command: "x" },
    status: 400,
    contains: { ...INVALID, field: "name", message: "Name is required" },
  },
  {
    title: "MC-NT3 adding a server with a blank name",
    request: "POST /servers",
    body: { name: " ", command: "x" },
    status: 400,
    contains: INVALID,
  },
  {
    title: "adding a server whose name is taken",
    request: "POST /servers",
    body: { name: "echo", command: "x" },
    status: 409,
    contains: TAKEN,
  },
  {
    title: "adding a server without a transport",
    request: "POST /servers",
    body: { name: "n" },
    status: 400,
    contains: INVALID,
  },
  {
    title: "MC-NT4 adding a server without a required variable",
    request: "POST /servers",
    body: { name: "n", command: "x", env: { KEY: { required: true } } },
    status: 400,
    contains: { ...INVALID, field: "env.KEY", message: "Missing required credentials" },
  },
  {
    title: "T08 adding a server with a shell command",
    request: "POST /servers",
    body: { name: "n", command: "sh; rm" },
    status: 400,
    contains: BAD_ARGUMENT,
  },
  {
    title: "T52 adding a server with access to the host",
    request: "POST /servers",
    body: { name: "n", ...PRIVILEGED },
    status: 400,
    contains: INVALID,
  },
  {
    title: "T07 testing a server with access to the host",
    request: "POST /servers/test",
    body: PRIVILEGED,
    status: 400,
    contains: INVALID,
  },
  {
    title: "T12 adding a server with a mask for a value",
    request: "POST /servers",
    body: { name: "n", command: "x", env: { KEY: "***" } },
    status: 400,
    contains: INVALID,
  },
  {
    title: "replacing a server by an empty entry",
    request: "PUT /servers/second",
    body: {},
    status: 400,
    contains: INVALID,
  },
  {
    title: "renaming a server to a name that is taken",
    request: "PATCH /servers/second",
    body: { name: "echo" },
    headers: MERGE_PATCH,
    status: 409,
    contains: TAKEN,
  },
  {
    title: "T16 a path in place of a name",
    request: "GET /servers/..%2F..%2Fetc%2Fpasswd",
    status: 404,
    contains: NOT_FOUND,
    lacks: ["root:"],
  },
  {
    title: "zero lines of a log",
    request: "GET /servers/echo/logs?tail=0",
    status: 400,
    contains: BAD_ARGUMENT,
  },
  {
    title: "a number of log lines that is not a number",
    request: "GET /servers/echo/logs?tail=x",
    status: 400,
    contains: BAD_ARGUMENT,
  },
];

describe("MC-NT1 MC-NT2 MC-NT3 MC-NT4 requests that are refused", () => {
  it.each(REFUSED)("$title: $status", async (scenario) => {
    await expectScenario(managed(), scenario);
    expect(managed().hub.supervisor.get("broken").status).toEqual({ state: "disabled" });
  });
});
