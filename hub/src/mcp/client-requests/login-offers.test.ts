// The rules of login offers. With real clients, servers and logins: test/oauth/mid-call.test.ts.

import { describe, expect, it } from "vitest";
import { HubError } from "../../errors.ts";
import { rawParams, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import { SessionUsage } from "../../protocol/serve/session-init.ts";
import type { IncomingRequest, Session } from "../../protocol/serve/service.ts";
import { LoginOffers, readLoginRetry, type LoginRetry } from "./login-offers.ts";

const url = "http://127.0.0.1:7777/connect/notes";
const needed = new HubError("LoginRequired", 'Server "notes" needs a login', { loginUrl: url });
const ACCEPT = { login: { action: "accept" } };

type Given = Partial<IncomingRequest> & { readonly params?: Record<string, unknown> };

function incoming({ params = {}, ...given }: Given = {}): IncomingRequest {
  return {
    request: { kind: "request", id: 1, method: "tools/call", params: rawParams({ name: "t", ...params }) },
    era: "modern",
    transport: "http",
    session: undefined,
    capabilities: { elicitation: { url: {} } },
    logLevel: undefined,
    headers: {},
    signal: new AbortController().signal,
    notify: () => undefined,
    ...given,
  };
}

function sessionOf(version: string): Session & { readonly told: string[] } {
  const told: string[] = [];
  return {
    id: "1",
    publicId: "public",
    usage: new SessionUsage(),
    version,
    clientInfo: undefined,
    capabilities: {},
    logLevel: undefined,
    told,
    notify: (method, params) => void told.push(`${method} ${params?.bytes.toString() ?? ""}`),
    ask: () => Promise.reject(new Error("not asked")),
  };
}

const legacy = (version: string) => incoming({ era: "legacy", session: sessionOf(version) });
const stateIn = (reply: Reply | undefined) =>
  reply?.ok === true ? (reply.result.value as { requestState?: string }).requestState : undefined;

/** The client repeats its call with an answer. */
function retryOf(reply: Reply | undefined, inputResponses: unknown = ACCEPT): LoginRetry {
  const retry = readLoginRetry(rawParams({ name: "t", inputResponses, requestState: stateIn(reply) }));
  if (retry === undefined) throw new Error("Not a repeated call");
  return retry;
}

describe("a repeated call", () => {
  it("AU-1 is forwarded without the answer, and with the input that the client had sent to the server", () => {
    const offers = new LoginOffers();
    const plain = retryOf(offers.reply(incoming(), "notes", needed));
    expect(JSON.parse(plain.params.bytes.toString())).toEqual({ name: "t" });
    const given = { inputResponses: { q: { action: "accept" } }, requestState: "the server's" };
    const { params } = retryOf(offers.reply(incoming({ params: given }), "notes", needed));
    expect(JSON.parse(params.bytes.toString())).toEqual({ name: "t", ...given });
    expect(params.value).toEqual({ name: "t", ...given });
  });

  it("AU-1 of a suspended call begins anew", () => {
    const given = { inputResponses: { q: { action: "accept" } }, requestState: "plugboard.sealed" };
    const { params } = retryOf(new LoginOffers().reply(incoming({ params: given }), "notes", needed));
    expect(JSON.parse(params.bytes.toString())).toEqual({ name: "t" });
  });

  it("AU-1 asks three times in all, also for a state that the client has made up", () => {
    const offers = new LoginOffers();
    let reply = offers.reply(incoming(), "notes", needed);
    for (let asked = 2; asked <= 3; asked++) reply = offers.reply(incoming(), "notes", needed, retryOf(reply));
    expect(stateIn(reply)).toBeDefined();
    expect(offers.reply(incoming(), "notes", needed, retryOf(reply))).toBeUndefined();
    for (const content of ["", "e30", "!", Buffer.from('{"asked":"no"}').toString("base64url")]) {
      const made = readLoginRetry(rawParams({ requestState: `plugboard-login.${content}` }));
      expect(offers.reply(incoming(), "notes", needed, made)).toBeUndefined();
    }
  });

  it.each([["decline"], ["cancel"], [undefined]])("AU-1 with the answer %s is refused", async (action) => {
    const offers = new LoginOffers();
    const retry = retryOf(offers.reply(incoming(), "notes", needed), { login: { action } });
    await expect(offers.resume(incoming(), "notes", retry, incoming().signal)).rejects.toMatchObject({
      kind: "ClientRefused",
    });
  });

  it.each<[string, (offers: LoginOffers, client: AbortController) => void]>([
    ["the login is completed", (offers) => offers.onLogin("notes", "local", "completed")],
    ["the login fails", (offers) => offers.onLogin("notes", "local", "failed")],
    ["the client leaves", (_, client) => client.abort()],
    ["the hub stops", (offers) => offers.close()],
  ])("AU-1 waits until %s", async (_, end) => {
    const offers = new LoginOffers();
    const client = new AbortController();
    const retry = retryOf(offers.reply(incoming(), "notes", needed));
    let isOver = false;
    const waiting = offers.resume(incoming(), "notes", retry, client.signal).then(() => (isOver = true));
    offers.onLogin("notes", "local", "started");
    offers.onLogin("other", "local", "completed");
    await Promise.resolve();
    expect(isOver).toBe(false);
    end(offers, client);
    await waiting;
  });

  it("AU-1 waits no longer than its limit, and not after a login that has failed", async () => {
    const offers = new LoginOffers({ waitMs: 1 });
    const retry = retryOf(offers.reply(incoming(), "notes", needed));
    await expect(offers.resume(incoming(), "notes", retry, incoming().signal)).resolves.toBeUndefined();
    const patient = new LoginOffers();
    patient.reply(incoming(), "notes", needed);
    patient.onLogin("notes", "local", "failed");
    await expect(patient.resume(incoming(), "notes", retry, incoming().signal)).resolves.toBeUndefined();
  });
});

describe("a legacy client", () => {
  it("AU-1 is notified once of a login that it was sent to, unless its session has ended", () => {
    const offers = new LoginOffers();
    const [one, ended] = [legacy("2025-11-25"), legacy("2025-11-25")];
    const replies = [one, ended].map((each) => offers.reply(each, "notes", needed));
    expect(replies[0]).toEqual(replies[1]);
    if (ended.session !== undefined) offers.endSession(ended.session);
    offers.onLogin("notes", "local", "completed");
    offers.onLogin("notes", "local", "completed");
    const told = [one, ended].map(({ session }) => (session as ReturnType<typeof sessionOf>).told);
    expect(told).toEqual([[expect.stringMatching(/^notifications\/elicitation\/complete \{"elicitationId":"/)], []]);
  });

  it.each(["2025-06-18", "2024-11-05"])("AU-1 of %s gets the plain error: the revision has no other", (version) => {
    expect(new LoginOffers().reply(legacy(version), "notes", needed)).toBeUndefined();
  });
});

it("AU-1 an error without an address, or a client that cannot open one, is no offer", () => {
  const offers = new LoginOffers();
  expect(offers.reply(incoming(), "notes", new HubError("LoginRequired", "needed"))).toBeUndefined();
  expect(offers.reply(incoming({ capabilities: { elicitation: {} } }), "notes", needed)).toBeUndefined();
});
