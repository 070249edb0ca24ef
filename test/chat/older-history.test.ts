// Older history, which is fetched from the network when a client asks for it: the built chat server, its clients of both eras,
// and a Matrix homeserver on loopback. The rules are in chat/src/history, the real XMPP server in chat/src/sources/xmpp.

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HomeserverDouble } from "../support/chat/matrix-double.ts";
import {
  connectChat,
  makeChatHome,
  startChat,
  type ChatClient,
  type ChatHome,
  type RunningChat,
} from "../support/chat/client.ts";

const DAY = 86_400_000;
const DAYS = 1000;
const FIRST = Date.UTC(2020, 0, 1);
const dayOf = (number: number): string => new Date(FIRST + number * DAY).toISOString().slice(0, 10);

let network: HomeserverDouble;
let room: string;
let home: ChatHome;
let server: RunningChat;
let client: ChatClient;

/** One message a day from 2020 on; the server's first sync has the last 50 of them. */
beforeEach(async () => {
  network = await HomeserverDouble.start();
  const register = await post("register", { username: "me" });
  const [user, token] = [String(register["user_id"]), String(register["access_token"])];
  room = String((await post("createRoom", { name: "Club" }, token))["room_id"]);
  for (let number = 0; number < DAYS; number++) network.say(room, user, FIRST + number * DAY, `day ${number}`);
  home = await makeChatHome({ matrix: { entry: { kind: "matrix", options: { url: network.url, token } } } });
  server = await startChat(home);
  client = await connectChat("modern", { url: server.url });
  await connected(client);
  network.calls.length = 0;
});
afterEach(async () => {
  await client.close();
  expect(await server.stop()).toBe(0);
  await home.remove();
  await network.close();
});

async function post(path: string, body: object, token = ""): Promise<Record<string, unknown>> {
  const response = await fetch(`${network.url}/_matrix/client/v3/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, unknown>;
}
async function connected(asking: ChatClient): Promise<void> {
  for (;;) {
    const { json } = await asking.call("list_sources");
    if (json.sources[0].is_connected && json.sources[0].message_count > 0) return;
  }
}
const days = (json: { messages: readonly { content: string }[] }): string[] =>
  json.messages.map(({ content }) => content);
const named = (...numbers: number[]): string[] => numbers.map((number) => `day ${number}`);
const fetches = (): number => network.calls.filter((call) => call === "messages").length;
const CHAT = { source: "matrix", chat: "Club" };

it("CH-12 older messages are fetched for a time, an offset, a cursor and a context, and none twice", async () => {
  const get = async (args: object) => (await client.call("get_messages", { ...CHAT, ...args })).json;
  expect(days(await get({ since: dayOf(100), before: dayOf(103) }))).toEqual(named(102, 101, 100));
  expect(fetches()).toBe(1);
  expect(days(await get({ offset: 60, limit: 2 }))).toEqual(named(939, 938));
  expect(days(await get({ since: dayOf(700), before: dayOf(702), order: "asc" }))).toEqual(named(700, 701));
  const first = await get({ limit: 500, max_chars: 1_000_000 });
  expect(days(first)).toHaveLength(500);
  const second = await get({ limit: 500, max_chars: 1_000_000, cursor: first.next_cursor });
  expect([...days(first), ...days(second)]).toEqual(named(...Array.from({ length: 1000 }, (_, index) => 999 - index)));
  expect(await client.read(`messages://matrix/Club?since=${dayOf(0)}&before=${dayOf(2)}`)).toMatch(
    /^\[2020-01-01T.*day 0\n\[2020-01-02T.*day 1\n$/,
  );
  const asked = fetches();
  expect(days(await get({ since: dayOf(0), before: dayOf(1) }))).toEqual(named(0));
  expect(fetches()).toBe(asked);
  await client.close();
  await server.stop();
  // That the beginning was reached is remembered.
  server = await startChat(home);
  client = await connectChat("modern", { url: server.url });
  await connected(client);
  expect(days(await get({ before: dayOf(1) }))).toEqual(named(0));
  expect(fetches()).toBe(asked);
});

it("CH-12 older messages are fetched for resources and for the context of a message", async () => {
  expect(await client.read(`messages://matrix/Club?before=${dayOf(300)}&limit=1`)).toMatch(/day 299\n$/);
  const oldest = (await client.call("get_messages", { ...CHAT, since: dayOf(950), order: "asc", limit: 1 })).json;
  const { json } = await client.call("get_message_context", { ...CHAT, message_id: oldest.messages[0].id, before: 3 });
  expect(days(json).slice(0, 5)).toEqual(named(947, 948, 949, 950, 951));
  expect(json.coverage).toBeUndefined();
});

it("CH-12 a homeserver that cannot look up a time is paged through", async () => {
  network.faults.set("timestamp_to_event", "unknown");
  const { json } = await client.call("get_messages", { ...CHAT, since: dayOf(700), before: dayOf(702) });
  expect(days(json)).toEqual(named(701, 700));
});

it("CH-12 if fetching fails, the answer comes from the store and says so", async () => {
  network.faults.set("messages", "broken");
  const { json, text, isError } = await client.call("get_messages", { ...CHAT, since: dayOf(940), limit: 500 });
  expect(isError).toBe(false);
  expect(days(json)).toHaveLength(50);
  expect(json.coverage).toMatch(
    /^Older messages could not be fetched: .*HTTP|^Older messages could not be fetched: The homeserver/,
  );
  expect(json.coverage).toContain(`messages before ${dayOf(950)}`);
  expect(text).toContain(json.coverage);
  expect(await client.readMeta(`messages://matrix/Club?since=${dayOf(940)}`)).toMatchObject({
    "plugboard-chat/coverage": json.coverage,
  });
  network.faults.clear();
  expect(days((await client.call("get_messages", { ...CHAT, since: dayOf(940), limit: 500 })).json)).toHaveLength(60);
});

it("CH-12 a search without a time fetches nothing and says so; with a time it fetches that range", async () => {
  const everywhere = await client.call("search_messages", { query: "day" });
  expect(everywhere.json.coverage).toContain("Only stored messages of matrix were searched");
  expect(everywhere.text).toContain(everywhere.json.coverage);
  const one = await client.call("search_messages", { ...CHAT, query: "nothing" });
  expect(one.json.coverage).toContain(`not in messages before ${dayOf(950)}`);
  expect(fetches()).toBe(0);
  const timed = await client.call("search_messages", { ...CHAT, query: "day", since: dayOf(50), before: dayOf(52) });
  expect(days(timed.json)).toEqual(named(51, 50));
  expect(timed.json.coverage).toBeUndefined();
  const hidden = await client.call("get_messages", { source: "matrix", limit: 10 });
  expect(hidden.json.coverage).toBeUndefined();
});

it("CH-12 a follower has older messages fetched by the process that runs the sources", async () => {
  const along = await connectChat("legacy", { home });
  const { json } = await along.call("get_messages", { ...CHAT, since: dayOf(200), before: dayOf(202) });
  expect(days(json)).toEqual(named(201, 200));
  await along.close();
});

describe("CH-12 progress of fetching", () => {
  const args = { ...CHAT, since: dayOf(700), limit: 500, max_chars: 1_000_000 };
  const expectation = [1, 2, 3].map((progress) => ({
    progress,
    message: `Fetched ${progress} ${progress === 1 ? "page" : "pages"} of older messages, back to ${dayOf(950 - 100 * progress)}T00:00:00Z`,
  }));

  it("is reported to a legacy client", async () => {
    const told: unknown[] = [];
    const legacy = new ClientV1({ name: "test", version: "1" });
    await legacy.connect(new HttpV1(new URL(server.url)));
    const onprogress = (progress: unknown) => told.push(progress);
    await legacy.callTool({ name: "get_messages", arguments: args }, undefined, { onprogress });
    expect(told).toEqual(expectation);
    await legacy.close();
  });

  it("is reported to a modern client, also for a resource", async () => {
    const told: unknown[] = [];
    const modern = new ClientV2(
      { name: "test", version: "1" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    await modern.connect(new HttpV2(new URL(server.url)));
    const onprogress = (progress: unknown) => told.push(progress);
    await modern.readResource({ uri: `messages://matrix/Club?since=${dayOf(700)}&limit=500` }, { onprogress });
    expect(told).toEqual(expectation);
    await modern.close();
  });
});
