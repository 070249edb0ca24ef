// Users, teams and groups for some, against a real hub.

import { once } from "node:events";
import { request } from "node:http";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HubClient } from "../../hub/src/api/client/client.ts";
import type { AccessTokenInput } from "../../hub/src/api/schemas/token.ts";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, plugboard, startHub, type RunningHub } from "../support/hub.ts";
import { answerOf, http, modern } from "../support/rpc.ts";
import { signIn } from "../support/users.ts";

const SETTINGS = {
  auth: {
    mcp: "required",
    default_access: "none",
    admins: ["root@example.com"],
    teams: { eng: ["ann@example.com", "service:ci"] },
  },
};
const GROUPS = {
  eng: { servers: ["echo"], access: ["team:eng"] },
  ben: { servers: ["echo"], access: ["user:Ben@example.com"] },
  all: { servers: ["echo"], access: ["*"] },
  closed: { servers: ["echo"] },
};

let hub: RunningHub;
let client: HubClient;

beforeAll(async () => {
  const home = await makeHome({ echo: fixture("echo") }, GROUPS);
  await writeFile(join(home.dir, "config/hub.json"), JSON.stringify(SETTINGS));
  hub = await startHub(home);
  client = await clientOf(hub);
  await signIn(home, ...["ann", "ben", "root", "eve"].map((name) => ({ email: `${name}@example.com`, name })));
});

afterAll(async () => {
  await hub.stop();
  await hub.home.remove();
});

let made = 0;

async function tokenFor(holder: string, input: Partial<AccessTokenInput> = {}) {
  const { token } = await client.tokens.create({ name: `token ${++made}`, for: holder, ...input });
  return { authorization: `Bearer ${token}` };
}

const url = (path: string) => `${hub.url}${path}`;

async function statusOf(group: string, headers: Record<string, string>): Promise<number> {
  return (await modern(url(`/mcp/${group}`), "tools/list", {}, headers)).status;
}

async function api(path: string, headers: Record<string, string>, method = "GET", body?: unknown) {
  const answer = await http(url(`/api/v1${path}`), {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: answer.body === "" ? undefined : JSON.parse(answer.body) };
}

async function openStream(headers: Record<string, string>, group = "all"): Promise<{ ended: Promise<unknown> }> {
  const outgoing = request(url(`/sse/${group}`), {
    headers: { ...headers, accept: "text/event-stream" },
    agent: false,
  });
  outgoing.end();
  const [response] = await once(outgoing, "response");
  expect(response.statusCode).toBe(200);
  response.resume();
  return { ended: new Promise((resolve) => response.on("error", () => undefined).once("close", resolve)) };
}

describe("AU-5 groups for some", () => {
  it.each<[holder: string, open: string[]]>([
    ["ann@example.com", ["all", "eng"]],
    ["ben@example.com", ["all", "ben"]],
    ["root@example.com", ["all", "ben", "closed", "eng"]],
    ["ci", ["all", "eng"]],
    ["other", ["all"]],
  ])("T06 %s may use %j, and for all other groups gets the answer for an unknown one", async (holder, open) => {
    const headers = await tokenFor(holder, { role: "admin" });
    // The role of a token of a program is its own: this one is about people and their access.
    const user = await tokenFor(holder);
    const used = holder === "root@example.com" ? headers : user;
    const unknown = await modern(url("/mcp/nowhere"), "tools/list", {}, used);
    for (const group of Object.keys(GROUPS)) {
      const answer = await modern(url(`/mcp/${group}`), "tools/list", {}, used);
      expect([group, answer.status]).toEqual([group, open.includes(group) ? 200 : 404]);
      if (answer.status === 404)
        expect(answer.body.replaceAll(`"${group}"`, '"nowhere"').replaceAll(`\\"${group}\\"`, '\\"nowhere\\"')).toBe(
          unknown.body,
        );
    }
    const { json } = await api("/groups", used);
    if (holder !== "root@example.com") expect(json.map(({ name }: { name: string }) => name).toSorted()).toEqual(open);
    expect((await api("/me", used)).json.groups.filter((name: string) => name !== "default").toSorted()).toEqual(open);
  });

  it("T47 a group that is closed to a user has no name, no hint and no tools in the API", async () => {
    const headers = await tokenFor("ben@example.com");
    const [closed, unknown] = [await api("/groups/eng", headers), await api("/groups/nowhere", headers)];
    const same = (problem: object) => JSON.stringify({ ...problem, instance: "" });
    expect(closed.status).toBe(404);
    expect(same(closed.json).replaceAll("eng", "nowhere")).toBe(same(unknown.json));
    expect((await api("/groups/eng/mcp", headers, "POST", {})).status).toBe(404);
  });

  it("A18 what a user holds open in a group ends when the group is closed to the user", async () => {
    const headers = await tokenFor("eve@example.com");
    const { ended } = await openStream(headers);
    await client.groups.set("all", { servers: ["echo"], access: ["team:eng"] });
    await ended;
    expect(await statusOf("all", headers)).toBe(404);
    await client.groups.set("all", { servers: ["echo"], access: ["*"] });
    expect(await statusOf("all", headers)).toBe(200);
  });

  it("a token for a group that is not open to its holder is refused, with the fix", async () => {
    const refused = client.tokens.create({ name: "x", for: "ben@example.com", groups: ["eng"] });
    await expect(refused).rejects.toMatchObject({ kind: "InvalidArgument", field: "groups" });
  });
});

describe("AU-5 users", () => {
  const cli = async (...args: string[]) => {
    const { code, stdout, stderr } = await plugboard(hub.home, args);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return stdout;
  };

  it("a disabled user is out within a second, by command, in a hub that runs", async () => {
    const headers = await tokenFor("eve@example.com");
    const { ended } = await openStream(headers);
    await cli("user", "disable", "eve@example.com");
    await ended;
    expect([await statusOf("all", headers), (await api("/me", headers)).status]).toEqual([401, 401]);
    await cli("user", "enable", "eve@example.com");
    expect(await statusOf("all", headers)).toBe(200);
  });

  it("A27 a role takes effect at once, and a token never exceeds it", async () => {
    const headers = await tokenFor("eve@example.com", { role: "admin" });
    expect((await api("/servers", headers)).status).toBe(403);
    expect(await cli("user", "role", "eve@example.com", "operator")).toContain("operator");
    expect([(await api("/servers", headers)).status, (await api("/users", headers)).status]).toEqual([200, 403]);
    expect(await cli("user", "role", "eve@example.com", "default")).toContain("user");
    expect((await api("/servers", headers)).status).toBe(403);
    await expect(client.users.change("root@example.com", { role: "user" })).rejects.toMatchObject({ kind: "Conflict" });
  });

  it("T06 a user sees own tokens and calls only, and makes no token with a token", async () => {
    const [ann, ben] = [await tokenFor("ann@example.com"), await tokenFor("ben@example.com")];
    const call = { name: "add", arguments: { a: 1, b: 2 } };
    const answer = await modern(url("/mcp/eng"), "tools/call", call, ann);
    expect(answerOf(answer.body).result).toBeDefined();
    const me = (await api("/me", ann)).json.principal;
    const calls = (await api("/calls", ann)).json.items;
    expect(calls).toMatchObject([{ principal: me, tool_name: "add", token: expect.stringContaining("token ") }]);
    const [{ id }] = calls;
    expect((await api(`/calls/${id}`, ann)).status).toBe(200);
    expect([(await api(`/calls/${id}`, ben)).status, (await api("/calls", ben)).json.items]).toEqual([404, []]);
    expect((await api(`/calls?principal=${me}`, ben)).status).toBe(403);
    expect((await client.calls.list({ principal: "ann@example.com" })).items).toHaveLength(1);
    const tokens = (await api("/tokens", ben)).json;
    expect(new Set(tokens.map(({ principal }: { principal: string }) => principal)).size).toBe(1);
    const foreign = (await client.tokens.list()).find(({ principal }) => principal === me)?.id;
    expect((await api(`/tokens/${foreign}`, ben, "DELETE")).status).toBe(404);
    expect((await api("/tokens", ben, "POST", { name: "more" })).status).toBe(403);
    expect((await api(`/tokens/${tokens[0].id}`, ben, "DELETE")).status).toBe(204);
  });

  it("a removed user takes all tokens along", async () => {
    const headers = await tokenFor("eve@example.com");
    await cli("user", "rm", "eve@example.com");
    expect(await statusOf("all", headers)).toBe(401);
    expect(await cli("user", "ls")).not.toContain("eve@example.com");
    expect((await client.tokens.list()).filter(({ principal }) => principal.includes("eve"))).toEqual([]);
  });

  it("T44 the audit log has all of it, and is intact", async () => {
    const shown = await cli("audit", "--what", "user", "--who", "local");
    for (const text of ["user.disable", "user.enable", "user.role", "user.remove", "eve@example.com"]) {
      expect(shown).toContain(text);
    }
    const verified = await cli("audit", "verify");
    expect(verified).toMatch(/^\d+ rows, all as they were written\nhead {2}\S{43}\n$/);
    const head = verified.slice(-44, -1);
    expect(await cli("audit", "verify", "--head", head)).toContain("The noted head is that of row ");
    const other = await plugboard(hub.home, ["audit", "verify", "--head", "x".repeat(43)]);
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining("The noted head is not in the audit log") });
    const wrong = { authorization: `Bearer pbt_${"x".repeat(49)}` };
    expect(await statusOf("all", wrong)).toBe(401);
    await expect.poll(async () => (await client.audit.search({ what: "auth.refused" })).rows).not.toEqual([]);
  });
});
