// The chat server's commands as a user runs them, also through `plugboard chat`.

import { readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "../../chat/src/store/store.ts";
import { chat, connectChat, makeChatHome, message, runChat, startChat, type ChatHome } from "../support/chat.ts";
import { makeHome, plugboard } from "../support/hub.ts";

const EXPORT = {
  name: "Antti",
  type: "personal_chat",
  id: 700_000_001,
  messages: [
    {
      id: 2,
      type: "message",
      date_unixtime: "1736758860",
      from: "Alice",
      from_id: "user300",
      text: "see you at the meeting",
    },
    { id: 3, type: "message", date_unixtime: "1736758920", from: "Antti", from_id: "user700000001", text: "ok" },
  ],
};
const WHATSAPP = "[31/12/2022, 11:40:26] Ann: hi\n[31/12/2022, 11:41:00] Bob: hello Ann\n";

let home: ChatHome;
beforeEach(async () => {
  home = await makeChatHome({});
  await writeFile(join(home.dir, "result.json"), JSON.stringify(EXPORT));
  await writeFile(join(home.dir, "WhatsApp Chat with Ann.txt"), WHATSAPP);
});
afterEach(() => home.remove());

const path = (name: string) => join(home.dir, name);

describe("import and reading", () => {
  it("CH-12 imports Telegram and WhatsApp exports, again without doubling, and an agent reads them", async () => {
    const first = await runChat(
      home,
      "import",
      path("result.json"),
      path("WhatsApp Chat with Ann.txt"),
      "--time-zone",
      "UTC",
    );
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(/result\.json: .*2 messages in 1 chat.*; 2 new in source telegram, 0 skipped/);
    expect(first.stdout).toMatch(/Ann\.txt: .*2 messages.*2 new in source whatsapp/);
    expect(first.stdout).toMatch(/note: .*/);
    const again = await runChat(home, "import", path("result.json"), "--json");
    expect(JSON.parse(again.stdout).imported[0]).toMatchObject({ source: "telegram", messages: 2, added: 0 });
    const client = await connectChat("modern", { home });
    const { json } = await client.call("get_messages", { source: "telegram", chat: "Antti" });
    expect(json.messages.map(({ content }: { content: string }) => content)).toEqual(["ok", "see you at the meeting"]);
    const sources = (await client.call("list_sources")).json.sources;
    expect(sources.map(({ id, live }: { id: string; live: boolean }) => [id, live])).toEqual([
      ["telegram", false],
      ["whatsapp", false],
    ]);
    await client.close();
    expect((await stat(path("chat.json"))).mode & 0o777).toBe(0o600);
  });

  it("CH-12 sources, chats, messages and search show what is stored", async () => {
    await runChat(home, "import", path("result.json"));
    expect((await runChat(home, "sources")).stdout).toMatch(
      /^telegram +Imported files +import +imported +1 chats +2 messages/,
    );
    expect((await runChat(home, "chats")).stdout).toMatch(/^telegram +\S+ +Antti +direct/);
    expect((await runChat(home, "messages", "telegram", "Antti")).stdout).toBe(
      "[2025-01-13T09:01:00Z] Alice: see you at the meeting\n[2025-01-13T09:02:00Z] Antti: ok\n",
    );
    const found = await runChat(home, "search", "meeting", "--json");
    expect(JSON.parse(found.stdout).messages).toMatchObject([{ chat_name: "Antti", sender: "Alice" }]);
  });

  it("CH-8 what is wrong is told on stderr, with the fix, and as JSON where that is asked for", async () => {
    await runChat(home, "import", path("result.json"));
    const noChat = await runChat(home, "messages", "telegram", "Nobody");
    expect([noChat.code, noChat.stderr]).toEqual([1, "error: Chat 'Nobody' not found in source 'telegram'\n"]);
    const json = await runChat(home, "messages", "icq", "--json");
    expect(JSON.parse(json.stderr).error).toMatchObject({ code: "SOURCE_NOT_FOUND", candidates: ["telegram"] });
    const badLimit = await runChat(home, "messages", "--limit", "many");
    expect([badLimit.code, badLimit.stderr]).toEqual([1, expect.stringContaining("'limit'")]);
    const noFile = await runChat(home, "import", path("nothing.json"));
    expect([noFile.code, noFile.stderr]).toEqual([1, expect.stringContaining("nothing.json")]);
    expect((await runChat(home, "dance")).code).toBe(2);
    await writeFile(path("chat.json"), '{"sources":{"x":{"kind":"import","colour":"red"}}}');
    const badConfig = await runChat(home, "sources");
    expect([badConfig.code, badConfig.stderr]).toEqual([
      1,
      expect.stringMatching(/sources\.x\.colour: is not known here\n {2}fix: +Correct/),
    ]);
  });
});

describe("an export that chat.json names", () => {
  /** What agents see when a server has just started and read it. */
  const readBack = async (): Promise<{ contents: string[]; source: Record<string, unknown> }> => {
    const client = await connectChat("modern", { home });
    const connected = async () => (await client.call("list_sources")).json.sources[0];
    await expect.poll(async () => (await connected()).status, { timeout: 60_000 }).toBe("connected");
    const { json } = await client.call("get_messages", { source: "old" });
    const source = await connected();
    await client.close();
    return { contents: json.messages.map(({ content }: { content: string }) => content), source };
  };
  const configure = (options: object) =>
    writeFile(path("chat.json"), JSON.stringify({ sources: { old: { kind: "import", options } } }));

  it("CH-12 is read at the start, and again only when it has changed", async () => {
    const file = path("WhatsApp Chat with Ann.txt");
    const written = new Date("2025-01-13T10:00:00Z");
    await utimes(file, written, written);
    await configure({ path: file, time_zone: "UTC", self: "Bob" });
    const first = await readBack();
    expect(first.contents).toEqual(["hello Ann", "hi"]);
    expect(first.source).toMatchObject({ kind: "import", live: false, history: "snapshot", tells: [] });
    // It looks the same from outside: nobody opens it.
    await writeFile(file, WHATSAPP.replace("hello Ann", "HELLO ANN"));
    await utimes(file, written, written);
    expect((await readBack()).contents).toEqual(["hello Ann", "hi"]);
    await writeFile(file, `${WHATSAPP}[31/12/2022, 11:42:00] Ann: lunch?\n`);
    expect((await readBack()).contents).toEqual(["lunch?", "hello Ann", "hi"]);
  });

  it("CH-8 that is not there is a source with an error that says so", async () => {
    await configure({ path: path("gone.json") });
    const client = await connectChat("modern", { home });
    const source = async () => (await client.call("list_sources")).json.sources[0];
    await expect.poll(async () => (await source()).status, { timeout: 60_000 }).toBe("error");
    expect(await source()).toMatchObject({
      is_connected: false,
      message: expect.stringContaining("gone.json cannot be read"),
      how_to_connect: expect.stringContaining("Check that the file is there"),
    });
    await client.close();
  });

  it("CH-12 leaves its place to a live source of the same name, when it is imported by hand", async () => {
    await writeFile(
      path("chat.json"),
      JSON.stringify({ sources: { telegram: { kind: "jsonl", options: { path: home.file("telegram") } } } }),
    );
    await home.append("telegram", chat("c", "Chat"), message("c", "1", "ann", "2025-01-13T10:00:00Z", "live"));
    const server = await startChat(home);
    const client = await connectChat("modern", { url: server.url });
    await expect
      .poll(async () => (await client.call("list_sources")).json.sources[0].status, { timeout: 60_000 })
      .toBe("connected");
    await client.close();
    await server.stop();
    const place = async () => {
      const store = await openStore(path("chat.db"));
      const checkpoint = store.checkpoint("telegram");
      await store.close();
      return checkpoint;
    };
    const before = await place();
    expect(before).toEqual({ offset: expect.any(String), path: home.file("telegram") });
    expect((await runChat(home, "import", path("result.json"), "--source", "telegram")).code).toBe(0);
    expect(await place()).toEqual(before);
  });
});

describe("add", () => {
  it("CH-12 writes a source that names its secret, and never the secret", async () => {
    const added = await runChat(home, "add", "telegram-bot", "--token-env", "BOT_TOKEN");
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining("Source telegram (telegram-bot) is in ") });
    await runChat(home, "add", "signal", "--url", "http://127.0.0.1:8080", "--as", "private");
    await runChat(
      home,
      "add",
      "xmpp",
      "--jid",
      "me@example.org",
      "--service",
      "xmpps://example.org:5223",
      "--password-file",
      "/run/secret",
    );
    expect(JSON.parse(await readFile(path("chat.json"), "utf8")).sources).toEqual({
      telegram: { kind: "telegram-bot", options: { token: "${env:BOT_TOKEN}" } },
      private: { kind: "signal-cli", options: { url: "http://127.0.0.1:8080" } },
      xmpp: {
        kind: "xmpp",
        options: { jid: "me@example.org", service: "xmpps://example.org:5223", password_file: "/run/secret" },
      },
    });
    const twice = await runChat(home, "add", "telegram-bot", "--token-env", "BOT_TOKEN");
    expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining("There is a source 'telegram' already")]);
    await writeFile(path("chat.json"), '{"sources":{"telegram":{"kind":"import","options":{"path":"result.json"}}}}');
    expect((await runChat(home, "add", "telegram-bot", "--token-env", "BOT_TOKEN")).stderr).toContain("already");
    const bare = await runChat(home, "add", "telegram-bot", "--as", "other");
    expect([bare.code, bare.stderr]).toEqual([
      1,
      expect.stringContaining("Give --token-file FILE or --token-env NAME"),
    ]);
  });
});

describe("plugboard chat", () => {
  it("CH-12 hands everything over, options and help included", async () => {
    const hubHome = await makeHome(undefined);
    const run = (...args: string[]) => plugboard(hubHome, ["chat", ...args], { env: { ...home.env } });
    expect((await run("import", path("result.json"))).code).toBe(0);
    expect((await run("search", "meeting")).stdout).toContain("Alice: see you at the meeting");
    expect(JSON.parse((await run("chats", "--json")).stdout).chats).toHaveLength(1);
    expect((await run("--help")).stdout).toMatch(/^Usage: plugboard chat/);
    expect((await run("messages", "telegram", "Nobody")).code).toBe(1);
    await hubHome.remove();
  });
});

it("D22 a word that is no command is said to be none, and status is one", async () => {
  const unknown = await runChat(home, "stauts");
  expect(unknown).toMatchObject({ code: 2, stdout: "" });
  expect(unknown.stderr).toMatch(/^error: unknown command 'stauts'\n {2}note: +Did you mean status\?\n$/);
  expect(await runChat(home, "status")).toMatchObject({ code: 0, stderr: expect.stringContaining("No sources yet") });
});
