// chat.json is changed while the server runs: by an editor, by `plugboard-chat import`, and by mistake.

import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  chat,
  connectChat,
  makeChatHome,
  message,
  person,
  runChat,
  startChat,
  type ChatClient,
  type ChatHome,
  type RunningChat,
} from "../support/chat/client.ts";

const AT = "2025-01-13T10:00:00Z";
const history = (word: string) => [
  person("ann", "Ann"),
  chat("c1", "Club", "group"),
  message("c1", `${word}-1`, "ann", AT, word),
];

let home: ChatHome;
let server: RunningChat;
let client: ChatClient;
beforeEach(async () => {
  home = await makeChatHome({ one: { events: history("first") }, two: { events: history("second") } });
  server = await startChat(home);
  client = await connectChat("modern", { url: server.url });
  await statuses({ one: "connected", two: "connected" });
});
afterEach(async () => {
  await client.close();
  expect(await server.stop()).toBe(0);
  await home.remove();
});

/** Waits until the configured sources have these statuses. */
async function statuses(expected: Record<string, string>): Promise<void> {
  const now = async () => {
    const { sources } = (await client.call("list_sources")).json;
    return Object.fromEntries(sources.map(({ id, status }: { id: string; status: string }) => [id, status]));
  };
  await expect.poll(now).toEqual(expected);
}

type Json = Record<string, unknown>;
interface Config {
  sources: Record<string, Json>;
}
/** Saves atomically: a partially written file would cause a warning. */
async function save(text: string): Promise<void> {
  await writeFile(join(home.dir, "draft"), text);
  await rename(join(home.dir, "draft"), join(home.dir, "chat.json"));
}
async function edit(change: (config: Config) => void): Promise<void> {
  const config = JSON.parse(await readFile(join(home.dir, "chat.json"), "utf8")) as Config;
  change(config);
  await save(JSON.stringify(config));
}
const follow = (source: string): Json => ({ kind: "jsonl", options: { path: home.file(source) } });
const contents = async (source: string) => {
  const { json } = await client.call("get_messages", { source });
  return json.messages.map(({ content }: { content: string }) => content);
};
async function said(text: string): Promise<void> {
  await expect.poll(() => server.stderr()).toContain(text);
}

it("CH-12 sources are added and removed without disturbing the others", async () => {
  await client.watch("messages://one/*");
  await home.append("three", ...history("third"));
  await edit(({ sources }) => {
    sources["three"] = follow("three");
    delete sources["two"];
  });
  await statuses({ one: "connected", three: "connected" });
  expect(await contents("three")).toEqual(["third"]);
  expect((await client.call("get_messages", { source: "two" })).json.error.code).toBe("SOURCE_NOT_FOUND");
  expect((await client.call("search_messages", { query: "second" })).json.messages).toEqual([]);
  await said("chat.json has changed: three was added, two was removed");
  await home.append("one", message("c1", "new", "ann", Date.now(), "still there", { origin: "live" }));
  expect((await client.update(1)).messages).toMatchObject([{ source: "one", preview: "still there" }]);
  expect(server.stderr()).not.toMatch(/(?:info|warning) one:/);
});

it("CH-12 a source with other options is restarted, and a subscription survives the removal and return of its source", async () => {
  await client.watch("messages://two/*");
  await home.append("three", ...history("third"));
  await edit(({ sources }) => (sources["one"] = follow("three")));
  await said("one is restarted");
  await expect.poll(() => contents("one")).toContain("third");
  await edit(({ sources }) => delete sources["two"]);
  await statuses({ one: "connected" });
  await home.append("three", message("c1", "wake", "ann", Date.now(), "of another", { origin: "live" }));
  await edit(({ sources }) => (sources["two"] = follow("two")));
  await statuses({ one: "connected", two: "connected" });
  await home.append("two", message("c1", "back", "ann", Date.now(), "back", { origin: "live" }));
  expect((await client.update(1)).messages).toMatchObject([{ source: "two", preview: "back" }]);
  expect(server.stderr()).not.toContain("not found");
});

it("CH-12 a chat that becomes hidden is not shown from the next request on", async () => {
  await edit(({ sources }) => (sources["one"] = { ...follow("one"), chats: { hide: ["Club"] } }));
  await expect.poll(() => contents("one")).toEqual([]);
  expect(await contents("two")).toEqual(["second"]);
  await said("sources are unchanged");
});

it("CH-12 an invalid or missing file is reported and changes nothing, until it is valid again", async () => {
  const path = join(home.dir, "chat.json");
  const good = await readFile(path, "utf8");
  await save(good.slice(0, 20));
  await said("is not JSON");
  await rm(path);
  await said("cannot be read");
  await save(JSON.stringify({ sources: { One: follow("one") } }));
  await said("lower-case letters");
  await statuses({ one: "connected", two: "connected" });
  expect(server.stderr().match(/the previous config stays in use/g)).toHaveLength(3);
  await save(JSON.stringify({ sources: { one: follow("one") } }));
  await statuses({ one: "connected" });
});

it("CH-12 an import of another process is visible without a restart, also for a follower", async () => {
  const second = await startChat(home);
  const reader = await connectChat("modern", { url: second.url });
  const file = join(home.dir, "WhatsApp Chat with Ann.txt");
  await writeFile(file, "[31/12/2022, 11:40:26] Ann: hi\n");
  expect((await runChat(home, "import", file)).code).toBe(0);
  await statuses({ one: "connected", two: "connected", whatsapp: "connected" });
  expect(await contents("whatsapp")).toEqual(["hi"]);
  const along = async () => (await reader.call("get_messages", { source: "whatsapp" })).json.messages?.length;
  await expect.poll(along).toBe(1);
  await reader.close();
  await second.stop();
});

it("CH-12 a failed source is tried again when the file is saved", async () => {
  const path = join(home.dir, "late.txt");
  await edit(({ sources }) => (sources["late"] = { kind: "import", options: { path } }));
  await statuses({ one: "connected", two: "connected", late: "error" });
  await writeFile(path, "[31/12/2022, 11:40:26] Ann: hi\n");
  await edit(({ sources }) => (sources["one"] = { ...sources["one"], name: "One" }));
  await statuses({ one: "connected", two: "connected", late: "connected" });
  expect(await contents("late")).toEqual(["hi"]);
});
