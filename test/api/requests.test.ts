// Rules for all requests and answers of the management API: bodies, headers, sizes, and unexpected errors.

import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { openManaged, logWith } from "../support/api.ts";
import { http } from "../support/rpc.ts";
import { configText, post, problem, usePlantedHub } from "./planted-hub.ts";

const managed = usePlantedHub();

describe("requests and answers", () => {
  it("MG-3 GET /status shows the state of the hub", async () => {
    const { json } = await managed().ask("/status");
    expect(json).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      pid: process.pid,
      demo: false,
      revision: managed().hub.configuration.revision,
      servers: { total: 5, running: 2, disabled: 3 },
      event_streams: 0,
      degraded: [],
    });
  });

  it.each([
    ["req-1.A_b", "req-1.A_b"],
    ["a b", undefined],
    ["x".repeat(129), undefined],
    ['"><script>', undefined],
  ])("X-Request-Id %j is kept if it is safe, and replaced if not", async (given, expected) => {
    for (const path of ["/status", "/servers/nobody", "/nothing"]) {
      const { headers, json } = await managed().ask(path, { headers: { "x-request-id": given } });
      const id = headers["x-request-id"];
      if (expected === undefined) expect(id).toMatch(/^[\da-f-]{36}$/);
      else expect(id).toBe(expected);
      if (path !== "/status") expect(json.instance).toBe(id);
    }
  });

  it("answers are not cached, sniffed, or shared with other sites", async () => {
    for (const path of ["/status", "/nothing"]) {
      const { headers } = await managed().ask(path);
      expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
      expect(headers).not.toHaveProperty("access-control-allow-origin");
    }
  });

  it.each([
    ["text/plain", "{}"],
    ["application/x-www-form-urlencoded", "name=x&command=sh"],
    ["multipart/form-data; boundary=x", "--x--"],
  ])("T03 a body of type %s is refused, and nothing is saved", async (type, body) => {
    const before = await configText(managed());
    const answer = await managed().ask("/servers", { method: "POST", body, headers: { "content-type": type } });
    expect([answer.status, answer.json.code]).toEqual([415, "VALIDATION_ERROR"]);
    expect(await configText(managed())).toBe(before);
  });

  it("T20 a body of 2 MiB is refused, with or without Content-Length", async () => {
    const big = Buffer.alloc(2 << 20, 0x20);
    expect((await managed().ask("/servers", { method: "POST", body: big })).json).toEqual(
      problem(413, "PAYLOAD_TOO_LARGE", "PayloadTooLarge"),
    );
    const chunked = await fetch(`${managed().url}/api/v1/servers`, {
      method: "POST",
      headers: { authorization: `Bearer ${managed().token}`, "content-type": "application/json" },
      body: new Blob([big]).stream(),
      duplex: "half",
    });
    expect(chunked.status).toBe(413);
    expect((await managed().ask("/status")).status).toBe(200);
  });

  it("T20 a Content-Length of 60 MiB is refused before the body is sent", async () => {
    const { port, hostname } = new URL(managed().url);
    const socket = connect(Number(port), hostname);
    const head = `POST /api/v1/servers HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${managed().token}\r\nContent-Type: application/json\r\nContent-Length: ${60 << 20}\r\n\r\n`;
    socket.write(head);
    const [answer] = await once(socket, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
    expect((await managed().ask("/status")).status).toBe(200);
  });

  it("a body is refused where none is expected", async () => {
    expect((await managed().ask("/servers/echo/stop", post({ force: true }))).json.code).toBe("VALIDATION_ERROR");
    expect(managed().hub.supervisor.get("echo").available).toBe(true);
  });

  it("T50 details of an unexpected error are logged, and not in the answer", async () => {
    const seen: unknown[] = [];
    const broken = new Error("ENOENT /home/someone/.config planted-inner");
    const own = await openManaged(
      {},
      {
        callLog: logWith({ query: () => Promise.reject(broken) }),
        onUnexpected: (error, requestId) => seen.push([error, requestId]),
      },
    );
    try {
      const { status, body, headers } = await own.ask("/calls");
      expect(status).toBe(500);
      expect(JSON.parse(body)).toEqual(problem(500, "INTERNAL", "Unexpected"));
      expect(body).not.toMatch(/planted|ENOENT|home|\.ts|at /);
      expect(seen).toEqual([[broken, headers["x-request-id"]]]);
    } finally {
      expect(await own.end()).toEqual([]);
    }
  });

  it("the global Request and Response are unchanged", () => {
    expect(Response.name).toBe("Response");
    expect(Object.getOwnPropertyDescriptor(globalThis, "Request")?.configurable).toBe(true);
    expect(String(Request)).not.toContain("getRequestCache");
  });

  it("F42 a hub that is stopping is not ready and refuses new event streams", async () => {
    const own = await openManaged({});
    own.api.close();
    const stopped = own.hub.stop();
    expect((await http(`${own.url}/readyz`, { method: "GET" })).status).toBe(503);
    expect((await http(`${own.url}/livez`, { method: "GET" })).status).toBe(200);
    expect((await own.ask("/events")).json.code).toBe("SERVICE_UNAVAILABLE");
    await stopped;
    expect(await own.end()).toEqual([]);
  });
});
