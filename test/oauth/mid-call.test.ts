// A call of an agent that meets a server without a login: the agent's user is offered the login, and the call goes on afterwards.
// The clients are the official SDKs, the authorization server is oidc-provider.

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { ABLE, connectAsked, type AskedClient, type AskedOptions, type ClientEra } from "../support/asked-clients.ts";
import { Browser } from "../support/oauth/browser.ts";
import { useOAuth, type Protected } from "../support/oauth/protected-pair.ts";
import { Messages } from "../support/streams.ts";

const URL_ELICITATION_REQUIRED = -32042;

const { hub, protectLoggedIn } = useOAuth();
const clients: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

/** The hub knows the server's tools, and has no login any more. */
async function loggedOut(options?: Parameters<typeof protectLoggedIn>[0]): Promise<Protected> {
  const place = await protectLoggedIn(options);
  await hub().api("DELETE", `/servers/${place.name}/login`);
  place.issuer.front.passed.length = 0;
  return place;
}

async function connect(era: ClientEra, options?: AskedOptions): Promise<AskedClient> {
  const client = await connectAsked(era, { url: `${hub().url}/mcp` }, options);
  clients.push(client);
  return client;
}

/** Does what a person does at the address of the question. */
async function logIn({ url }: Readonly<Record<string, unknown>>): Promise<void> {
  const browser = new Browser();
  const done = await browser.submit(await browser.open(String(url)));
  hub().addPages(browser.pages.filter((page) => page.url.startsWith(hub().url)));
  expect(new URL(done.url).pathname).toMatch(/^\/oauth\/done\//);
}

const toolOf = ({ name }: Protected, tool = "whoami") => `${name}:${tool}`;
const codesOf = ({ issuer }: Protected) => issuer.front.grants("authorization_code").length;
const connectUrl = ({ name }: Protected) => `${hub().url}/connect/${name}`;

describe("AU-1 a client of 2026-07-28 with elicitation.url", () => {
  const accept = { action: "accept" };

  it("is asked to open the hub's page, and its call is forwarded after the login", async () => {
    const place = await loggedOut();
    const elicit = async (params: Readonly<Record<string, unknown>>) => {
      await logIn(params);
      return accept;
    };
    const client = await connect("modern", { elicit });
    expect(await client.call(toolOf(place))).toMatchObject({ isError: false, text: expect.stringContaining("alice") });
    expect(client.asked.all).toEqual([
      {
        method: "elicitation/create",
        params: expect.objectContaining({
          mode: "url",
          url: connectUrl(place),
          message: expect.stringContaining(`Server "${place.name}" needs a login`),
        }),
      },
    ]);
    expect(place.server.calls).toEqual(["whoami"]);
  });

  it("whose user is still logging in when the call is repeated is not asked again", async () => {
    const place = await loggedOut();
    const hold = place.issuer.front.hold("token", "before");
    let person: Promise<void> | undefined;
    const elicit = async (params: Readonly<Record<string, unknown>>) => {
      person = logIn(params);
      await hold.reached;
      return accept;
    };
    const client = await connect("modern", { elicit });
    const call = client.call(toolOf(place));
    await client.asked.more(0);
    await hold.reached;
    // A repeated call that does not wait for the login would be refused before this.
    expect((await hub().call(place.name, "whoami")).error).toMatchObject({ kind: "LoginRequired" });
    hold.release();
    await person;
    expect(await call).toMatchObject({ isError: false, text: expect.stringContaining("alice") });
    expect(client.asked.all).toHaveLength(1);
  });

  it("whose user does not log in is asked three times, and then gets the error with the address", async () => {
    const place = await loggedOut();
    place.issuer.settings.decision = "deny";
    const elicit = async (params: Readonly<Record<string, unknown>>) => {
      await logIn(params);
      return accept;
    };
    const client = await connect("modern", { elicit });
    const { isError, text } = await client.call(toolOf(place));
    expect([isError, client.asked.all.length]).toEqual([true, 3]);
    expect(text).toContain(`Open ${connectUrl(place)} or run: plugboard auth ${place.name}`);
    expect(place.server.calls).toEqual([]);
  });

  it("whose user declines gets an error at once", async () => {
    const place = await loggedOut();
    const client = await connect("modern", { elicit: () => ({ action: "decline" }) });
    expect(await client.call(toolOf(place))).toEqual({
      isError: true,
      text: `CONFLICT: Server "${place.name}" needs a login, and the client declined it. plugboard auth ${place.name}`,
    });
    expect([client.asked.all.length, place.server.calls]).toEqual([1, []]);
  });

  it("one login serves all calls that wait for it", async () => {
    const place = await loggedOut();
    const begun = new Messages();
    let person: Promise<void> | undefined;
    const elicit = async (params: Readonly<Record<string, unknown>>) => {
      begun.push(params);
      await begun.more(4);
      person ??= logIn(params);
      await person;
      return accept;
    };
    const callers = await Promise.all(Array.from({ length: 5 }, () => connect("modern", { elicit })));
    const answers = await Promise.all(callers.map((client) => client.call(toolOf(place))));
    expect(answers.filter(({ text }) => text.includes("alice"))).toHaveLength(5);
    expect(codesOf(place)).toBe(1);
  });

  it("A34 is asked for a login with more permissions, and the call goes on with them", async () => {
    const place = await protectLoggedIn();
    place.issuer.front.passed.length = 0;
    const elicit = async (params: Readonly<Record<string, unknown>>) => {
      await logIn(params);
      return accept;
    };
    const client = await connect("modern", { elicit });
    expect((await client.call(toolOf(place, "admin"))).isError).toBe(false);
    expect(client.asked.all).toHaveLength(1);
    expect(client.asked.all[0].params.message).toContain("more permissions");
  });
});

/** A client of 2025-11-25, of either SDK. */
interface LegacyClient {
  readonly completed: Messages;
  call(name: string): Promise<{ isError: boolean; text: string }>;
}

async function connectLegacyV2(): Promise<LegacyClient> {
  const client = new ClientV2({ name: "test", version: "1" }, { capabilities: ABLE });
  const completed = new Messages();
  client.setNotificationHandler("notifications/elicitation/complete", ({ params }) => completed.push(params));
  await client.connect(new HttpV2(new URL(`${hub().url}/mcp`)));
  clients.push(client);
  return {
    completed,
    call: async (name) => {
      const { isError = false, content } = await client.callTool({ name, arguments: {} });
      return { isError, text: JSON.stringify(content) };
    },
  };
}

describe.each<[string, () => Promise<LegacyClient>]>([
  ["SDK v1", () => connect("legacy")],
  ["SDK v2", connectLegacyV2],
])("AU-1 a client of 2025-11-25 with elicitation.url, %s", (_, open) => {
  let place: Protected;
  let client: LegacyClient;

  it("gets the error -32042 with the address, is notified of the login, and calls again", async () => {
    place = await loggedOut();
    client = await open();
    const error = await client.call(toolOf(place)).catch((thrown: unknown) => thrown);
    const elicitation = {
      mode: "url",
      elicitationId: expect.any(String),
      url: connectUrl(place),
      message: expect.stringContaining(`Server "${place.name}" needs a login`),
    };
    expect(error).toMatchObject({ code: URL_ELICITATION_REQUIRED, data: { elicitations: [elicitation] } });
    const [{ elicitationId }] = (error as { data: { elicitations: [{ elicitationId: string }] } }).data.elicitations;
    // One question for all calls.
    await expect(client.call(toolOf(place))).rejects.toMatchObject({ data: { elicitations: [{ elicitationId }] } });
    expect(client.completed.all).toEqual([]);
    await logIn({ url: connectUrl(place) });
    expect(await client.completed.find((each) => each.elicitationId === elicitationId)).toEqual({ elicitationId });
    expect((await client.call(toolOf(place))).text).toContain("alice");
    expect([client.completed.all.length, codesOf(place)]).toEqual([1, 1]);
  });
});

it.each<[string, ClientEra, object]>([
  ["2026-07-28 that shows forms only", "modern", { elicitation: { form: {} } }],
  ["2026-07-28 without elicitation", "modern", {}],
  ["2025-11-25 that shows forms only", "legacy", { elicitation: {} }],
  ["2025-11-25 without elicitation", "legacy", {}],
])("AU-1 a client of %s gets an error result with the address and the command", async (_, era, capabilities) => {
  const place = await loggedOut();
  const client = await connect(era, { capabilities: { ...capabilities } });
  const { isError, text } = await client.call(toolOf(place));
  expect(isError).toBe(true);
  expect(text).toMatch(/^UNAUTHENTICATED: /);
  expect(text).toContain(`Open ${connectUrl(place)} or run: plugboard auth ${place.name}`);
  expect(client.asked.all).toEqual([]);
});
