// Calls that a person approves before they are made: in the client, by the command line, or through the API. Both eras, and every way
// to call a tool. What must hold: without a clear yes of a person the server never hears of the call.

import { once } from "node:events";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client/client.ts";
import type { PendingApproval } from "../../hub/src/calls/call-approval/waiting-call.ts";
import { connectAsked, type AskedClient, type AskedOptions, type ClientEra } from "../support/asked-clients.ts";
import { clientOf, tokenOf } from "../support/client.ts";
import { fixture, makeHome, plugboard, startHub } from "../support/hub.ts";
import { isObject } from "../../hub/src/lib/json/json.ts";
import { callText, openInProcess, untilState, type InProcess } from "../support/in-process.ts";
import { answerOf, http, modern, post } from "../support/rpc.ts";

const ERAS = ["legacy", "modern"] as const;
const UNASKED: AskedOptions = { capabilities: {} };
const answering = (decision: string): AskedOptions => ({
  elicit: () => ({ action: "accept", content: { decision } }),
});

let running: InProcess;
let url: string;
let api: HubClient;

beforeAll(async () => {
  const servers = ["files"];
  running = await openInProcess(
    { files: fixture("files"), newer: fixture("files", "modern"), asks: fixture("asks-modern") },
    {
      groups: {
        careful: {
          servers: ["files", "newer", "asks"],
          approve: "always",
          tools: { "*counts": { approve: "never" }, "*": {} },
        },
        some: { servers, approve: "destructive" },
        writes: { servers, approve: "writes" },
        renamed: {
          servers,
          tools: {
            "files:remove": { as: "tidy_up", approve: "always", arguments: { root: { const: "/secret-root" } } },
            "*": {},
          },
        },
        searched: { servers, approve: "always", exposure: "search" },
        hasty: { servers, approve: "always", approval_timeout_ms: 1000 },
        free: { servers },
      },
    },
  );
  url = await running.hub.listen({ host: "127.0.0.1", port: 0 });
  await running.hub.start();
  api = new HubClient({ url, token: await tokenOf(running.home) });
});

afterAll(async () => {
  expect(await running?.end()).toEqual([]);
});

const clients: AskedClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  expect(running.hub.calls.approvals.list()).toEqual([]);
});

async function connect(era: ClientEra, group: string, options: AskedOptions = {}): Promise<AskedClient> {
  const client = await connectAsked(era, { url: `${url}/mcp/${group}` }, options);
  clients.push(client);
  return client;
}

/** The next call that waits; at once, if one does. */
async function pending(): Promise<PendingApproval> {
  const [waiting] = running.hub.calls.approvals.list();
  if (waiting !== undefined) return waiting;
  const [next] = await once(running.hub.events, "approval.pending");
  return next;
}

/** How often a tool has run. */
async function runsOf(tool: string): Promise<number> {
  const counts: unknown = JSON.parse(await callText(running.hub, "files", "counts"));
  return isObject(counts) ? Number(counts[tool]) : NaN;
}

const DENIED = /^FORBIDDEN: The call of \S+ on "files" was denied by local/;

describe.each(ERAS)("RG-2 a %s client", (era) => {
  it("is asked in a form with tool and arguments, and a yes lets the call go", async () => {
    const before = await runsOf("remove");
    const client = await connect(era, "some", answering("approve"));
    expect(await client.call("remove", { path: "/tmp/a" })).toEqual({
      isError: false,
      text: 'remove {"path":"/tmp/a"}',
    });
    expect(client.asked.all).toMatchObject([
      {
        params: {
          message: 'Approve this call?\nTool: remove\nServer: files\nArguments: {\n  "path": "/tmp/a"\n}',
          requestedSchema: { properties: { decision: { enum: ["deny", "approve"] } } },
        },
      },
    ]);
    expect(await runsOf("remove")).toBe(before + 1);
  });

  it.each<[what: string, AskedOptions]>([
    ["denies", answering("deny")],
    ["declines", { elicit: () => ({ action: "decline" }) }],
    ["closes the form", { elicit: () => ({ action: "cancel" }) }],
    ["accepts without a decision", { elicit: () => ({ action: "accept", content: {} }) }],
    ["accepts with something else", { elicit: () => ({ action: "accept", content: { decision: "yes" } }) }],
  ])("whose user %s makes no call", async (_, options) => {
    const before = await runsOf("remove");
    const client = await connect(era, "some", options);
    const { isError, text } = await client.call("remove", { path: "/" });
    expect(isError).toBe(true);
    expect(text).toMatch(DENIED);
    expect(await runsOf("remove")).toBe(before);
  });

  it("that cannot ask waits for somebody else", async () => {
    const client = await connect(era, "some", UNASKED);
    const called = client.call("remove", { path: "/tmp/b" });
    const { id, isClientAsked } = await pending();
    expect(isClientAsked).toBe(false);
    await api.approvals.approve(id);
    expect(await called).toMatchObject({ isError: false });
  });

  it.each([
    ["free", "remove", false],
    ["some", "remove", true],
    ["some", "note", false],
    ["writes", "note", true],
    ["writes", "read", false],
    // Hints of a server can be wrong.
    ["writes", "lie", false],
    ["careful", "files__lie", true],
    ["careful", "files__counts", false],
    ["renamed", "tidy_up", true],
    ["renamed", "files:remove", true],
    ["renamed", "note", false],
  ])("in the group %s: %s needs approval: %s", async (group, tool, isAsked) => {
    const client = await connect(era, group, answering("approve"));
    expect(await client.call(tool, {})).toMatchObject({ isError: false });
    expect(client.asked.all.length).toBe(isAsked ? 1 : 0);
  });

  it("is not shown what the group hides; people in the hub are", async () => {
    const client = await connect(era, "renamed", {
      elicit: () =>
        new Promise(
          (resolve) => void pending().then(() => resolve({ action: "accept", content: { decision: "deny" } })),
        ),
    });
    const [waiting, { text }] = await Promise.all([pending(), client.call("tidy_up", { path: "a" })]);
    expect(text).toMatch(/The call of tidy_up on "files" was denied/);
    expect(JSON.stringify(client.asked.all)).toContain("tidy_up (remove)");
    expect(JSON.stringify(client.asked.all)).not.toContain("secret-root");
    expect(JSON.parse(String(waiting.args.json))).toEqual({ path: "a", root: "/secret-root" });
  });

  it("is asked through call_tool, too", async () => {
    const client = await connect(era, "searched", answering("approve"));
    expect(await client.call("call_tool", { name: "note", arguments: { path: "x" } })).toMatchObject({
      isError: false,
    });
    expect(client.asked.all.length).toBe(1);
    const denying = await connect(era, "searched", answering("deny"));
    expect((await denying.call("call_tool", { name: "note", arguments: { path: "x" } })).text).toMatch(DENIED);
  });

  it("of a modern server is asked once, also if the server asks as well", async () => {
    const decide = (params: Readonly<Record<string, unknown>>) =>
      String(params["message"]).startsWith("Approve")
        ? { action: "accept", content: { decision: "approve" } }
        : { action: "accept", content: { said: "hello" } };
    const client = await connect(era, "careful", { elicit: decide });
    expect(await client.call("newer__note", {})).toMatchObject({ isError: false });
    expect(client.asked.all.length).toBe(1);
    const { text } = await client.call("asks__rounds", { marker: "m", rounds: 2 });
    expect(JSON.parse(text)).toHaveLength(2);
    expect(client.asked.all.filter(({ params }) => params.message.startsWith("Approve"))).toHaveLength(2);
    expect(client.asked.all).toHaveLength(4);
  });

  it("that cancels withdraws the call", async () => {
    const before = await runsOf("remove");
    const client = await connect(era, "some", UNASKED);
    const cancel = new AbortController();
    const called = client.call("remove", {}, { signal: cancel.signal });
    const { id } = await pending();
    const ended = once(running.hub.events, "call.finished");
    cancel.abort();
    await expect(called).rejects.toThrow(/abort/i);
    expect(await ended).toMatchObject([{ outcome: "cancelled" }]);
    await expect(api.approvals.approve(id)).rejects.toMatchObject({ kind: "CallNotFound" });
    expect(await runsOf("remove")).toBe(before);
  });

  it("is told what the call waits for", async () => {
    const heard: unknown[] = [];
    const client = await connect(era, "some", UNASKED);
    const called = client.call("remove", {}, { onprogress: (progress) => heard.push(progress) });
    const { id } = await pending();
    await api.approvals.approve(id);
    await called;
    expect(heard).toContainEqual(
      expect.objectContaining({
        message: expect.stringMatching(/^Waiting for a person to approve the call: by `plugboard approvals`/),
      }),
    );
  });

  it("is refused when nobody decides in time, and the wait is not the server's", async () => {
    const client = await connect(era, "hasty", UNASKED);
    const { text } = await client.call("note", {});
    expect(text).toBe(
      'FORBIDDEN: The call of note on "files" was not approved within 1 second. A person approves it with: plugboard approvals',
    );
    const [last] = (await api.calls.list({ group: "hasty", limit: 1 })).items;
    expect(last).toMatchObject({ outcome: "refused", error_code: "FORBIDDEN", success: false });
    expect(last?.asked_ms).toBeGreaterThanOrEqual(990);
    expect(last?.duration_ms).toBeLessThan(500);
  });
});

describe("RG-2 a client that asks is overtaken by somebody else", () => {
  it("of the legacy era: its form is withdrawn", async () => {
    let onWithdrawn = () => {};
    const withdrawn = new Promise<void>((resolve) => (onWithdrawn = resolve));
    const client = await connect("legacy", "some", {
      elicit: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => (onWithdrawn(), reject(new Error("withdrawn"))));
        }),
    });
    const called = client.call("remove", { path: "/tmp/c" });
    const { id } = await pending();
    await client.asked.more(0);
    await api.approvals.deny(id, { reason: "not today" });
    expect((await called).text).toMatch(/denied by local: not today/);
    await withdrawn;
  });

  it("of the modern era: its next request gets the result", async () => {
    const _meta = { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } };
    const call = async (more: object = {}) =>
      answerOf((await modern(`${url}/mcp/some`, "tools/call", { name: "remove", arguments: {}, _meta, ...more })).body);
    const { requestState, inputRequests } = (await call()).result;
    expect(Object.keys(inputRequests)).toEqual(["approval"]);
    const finished = once(running.hub.events, "call.finished");
    await api.approvals.approve((await pending()).id);
    await finished;
    const late = { approval: { action: "accept", content: { decision: "deny" } } };
    const { result } = await call({ requestState, inputResponses: late });
    expect(result).toMatchObject({ content: [{ text: "remove {}" }] });
  });
});

describe("RG-2 a call through the API", () => {
  const call = (path: string) =>
    tokenOf(running.home).then((token) =>
      http(`${url}/api/v1${path}/call`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ arguments: { path: "/x" } }),
      }),
    );

  it.each(["/groups/some/tools/remove", "/groups/renamed/tools/tidy_up", "/servers/files/tools/remove"])(
    "POST %s/call waits and is made",
    async (path) => {
      const called = call(path);
      const { id } = await pending();
      await api.approvals.approve(id);
      expect(JSON.parse((await called).body)).toMatchObject({ success: true });
    },
  );

  it("is refused with a problem", async () => {
    const called = call("/groups/some/tools/remove");
    const { id } = await pending();
    await api.approvals.deny(id);
    const { status, body } = await called;
    expect([status, JSON.parse(body)]).toMatchObject([403, { code: "FORBIDDEN", kind: "NotApproved" }]);
  });

  it("waits at the admin endpoint, which has no tool that approves", async () => {
    const authorization = `Bearer ${await tokenOf(running.home)}`;
    const admin = (method: string, params: object) =>
      modern(`${url}/mcp/@admin`, method, { ...params }, { authorization });
    const called = admin("tools/call", {
      name: "call_mcp_tool",
      arguments: { server_name: "files", tool_name: "remove" },
    });
    const { id } = await pending();
    const { tools } = answerOf((await admin("tools/list", {})).body).result;
    expect(
      tools.map(({ name }: { name: string }) => name).filter((name: string) => /approve|deny|decide/.test(name)),
    ).toEqual([]);
    await api.approvals.deny(id);
    expect((await called).body).toContain("NotApproved");
  });
});

describe("RG-2 who may decide", () => {
  it("no access token, whatever its role, and no anonymous caller", async () => {
    const client = await connect("legacy", "some", UNASKED);
    const called = client.call("remove", {});
    const { id } = await pending();
    for (const role of ["user", "operator", "admin"] as const) {
      const { token } = await api.tokens.create({ name: `agent-${role}`, role });
      const agent = new HubClient({ url, token });
      await expect(agent.approvals.approve(id)).rejects.toMatchObject({ kind: "Forbidden" });
      await expect(agent.approvals.deny(id)).rejects.toMatchObject({ kind: "Forbidden" });
    }
    const { status } = await post(`${url}/api/v1/calls/approvals/${id}/approve`, {});
    expect(status).toBe(401);
    await api.approvals.approve(id);
    expect(await called).toMatchObject({ isError: false });
  });

  it("SE-5 is on record in the audit log", async () => {
    const { rows } = await api.audit.search({ what: "call" });
    expect(rows).toContainEqual(
      expect.objectContaining({ action: "call.approve", principal: "local", object: "files:remove" }),
    );
    expect(rows.find(({ detail }) => detail?.includes("not today") === true)).toMatchObject({
      action: "call.deny",
      detail: expect.stringContaining("decided in the hub"),
    });
  });
});

describe("MG-1 plugboard approvals", () => {
  it("lists calls with their arguments, approves and denies them", async () => {
    const home = await makeHome({ files: fixture("files") }, { some: { servers: ["files"], approve: "destructive" } });
    const hub = await startHub(home);
    const client = await connectAsked("legacy", { url: `${hub.url}/mcp/some` }, UNASKED);
    const waiting = await (async () => {
      const called = client.call("remove", { path: "/tmp/\u202etxt", token: "hunter2hunter2" });
      const { approvals } = await clientOf(hub);
      await expect.poll(() => approvals.list()).toHaveLength(1);
      return { called, id: (await approvals.list())[0]?.id ?? "" };
    })();
    const { stdout } = await plugboard(home, ["approvals"]);
    expect(stdout).toContain(`${waiting.id}  files.remove  (group some)`);
    expect(stdout).toContain(String.raw`"path": "/tmp/\u202etxt"`);
    expect(stdout).not.toContain("hunter2");
    expect(await plugboard(home, ["approvals", "deny", waiting.id, "--reason", "no"])).toMatchObject({ code: 0 });
    expect((await waiting.called).text).toMatch(/denied by local: no/);
    expect(await plugboard(home, ["approvals", "approve", waiting.id])).toMatchObject({ code: 6 });
    expect((await plugboard(home, ["approvals"])).stderr).toContain("No call waits for approval");
    await client.close();
    await hub.stop();
    await home.remove();
  });
});

it("RG-2 a hub that stops refuses the calls that wait", async () => {
  const other = await openInProcess(
    { files: fixture("files") },
    { groups: { some: { servers: ["files"], approve: "always" } } },
  );
  const address = await other.hub.listen({ host: "127.0.0.1", port: 0 });
  await other.hub.start();
  await untilState(other.hub, "files", "running");
  const client = await connectAsked("legacy", { url: `${address}/mcp/some` }, UNASKED);
  const waits = once(other.hub.events, "approval.pending");
  const called = client.call("note", {});
  await waits;
  const ended = once(other.hub.events, "call.finished");
  const stopped = other.hub.stop({ drainMs: 5000 });
  expect(await ended).toMatchObject([{ outcome: "refused", error: { kind: "NotApproved" } }]);
  expect((await called).text).toMatch(/not approved before the hub stopped/);
  await client.close();
  await stopped;
  expect(await other.end()).toEqual([]);
});

it("RG-2 a call that nobody can approve fails at once", async () => {
  const other = await openInProcess(
    { files: fixture("files") },
    { groups: { some: { servers: ["files"], approve: "always" } } },
  );
  await other.hub.start();
  const { stderr, code } = await plugboard(other.home, ["call", "note", "--group", "some", "--no-input"]);
  expect(code).not.toBe(0);
  expect(stderr).toContain("none can be asked");
  expect(await other.end()).toEqual([]);
});
