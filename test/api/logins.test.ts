// Logins over the REST API, without an authorization server: what is refused, and what a server without a login shows.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openManaged, type ManagedHub } from "../support/api.ts";
import { fixture } from "../support/hub.ts";

let managed: ManagedHub;

beforeAll(async () => {
  managed = await openManaged({
    program: fixture("echo"),
    remote: { url: "http://127.0.0.1:9/mcp", enabled: false },
    keyed: { url: "http://127.0.0.1:9/mcp", headers: { Authorization: "Bearer x" }, enabled: false },
    never: { url: "http://127.0.0.1:9/mcp", auth: false, enabled: false },
  });
});

afterAll(async () => {
  expect(await managed.end()).toEqual([]);
});

describe("AU-1 logins over REST", () => {
  it("lists the servers at which the hub may log in", async () => {
    const { json } = await managed.ask("/logins");
    expect(json).toEqual([{ server: "remote", principal: "local", state: "none", by: "person" }]);
  });

  it("a server has its login in its view, and null if the hub does not log in there", async () => {
    const { json } = await managed.ask("/servers");
    const logins = Object.fromEntries(json.map(({ config, login }: Json) => [config.name, login?.state ?? null]));
    expect(logins).toEqual({ program: null, remote: "none", keyed: null, never: null });
  });

  it.each([
    ["a program", "/servers/program/login", '"program" is a program: it has no login'],
    [
      "an entry with an Authorization header",
      "/servers/keyed/login",
      'The hub does not log in at "keyed": its entry sets an Authorization header',
    ],
    [
      "an entry without logins",
      "/servers/never/login",
      'The hub does not log in at "never": its entry says "auth": false',
    ],
  ])("refuses to begin a login at %s", async (_, path, message) => {
    const { status, json } = await managed.ask(path, { method: "POST", body: {} });
    expect([status, json.kind, json.message]).toEqual([400, "InvalidArgument", message]);
  });

  it.each([
    ["an unknown member", { scope: "mcp" }, "scope"],
    ["a scope with a space", { scopes: ["a b"] }, "scopes.0"],
    ["an issuer that is no address", { issuer: "nowhere" }, "issuer"],
    ["a secret without its client id", { client_secret: "x" }, "client_id"],
    ["an unknown flow", { flow: "carrier-pigeon" }, "flow"],
  ])("names the field of %s", async (_, body, field) => {
    const { status, json } = await managed.ask("/servers/remote/login", { method: "POST", body });
    expect([status, json.field]).toEqual([400, field]);
  });

  it.each([
    ["GET", "/logins/unknown", undefined],
    ["POST", "/logins/unknown/callback", { url: "http://localhost/oauth/callback?state=x&code=y" }],
    ["DELETE", "/logins/unknown", undefined],
  ])("%s %s: there is no such attempt", async (method, path, body) => {
    const { status, json } = await managed.ask(path, { method, body });
    expect([status, json.kind]).toEqual([404, "LoginNotFound"]);
  });

  it("a refresh without a login answers 409, since a 401 would be about the token for the hub", async () => {
    const { status, json, headers } = await managed.ask("/servers/remote/login/refresh", { method: "POST" });
    expect([status, json.kind, json.code]).toEqual([409, "LoginRequired", "UNAUTHENTICATED"]);
    expect(headers["www-authenticate"]).toBeUndefined();
  });

  it("a logout without a login finds none", async () => {
    const { json } = await managed.ask("/servers/remote/login", { method: "DELETE" });
    expect(json).toEqual({ server: "remote", found: false, revoked: false });
  });
});

// eslint-disable-next-line typescript/no-explicit-any -- answers are walked through as JSON
type Json = any;
