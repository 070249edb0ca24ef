// The chat server's commands as a user runs them, also through `plugboard chat`.

import { readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "../../chat/src/store/store.ts";
import { chat, connectChat, makeChatHome, message, runChat, startChat, type ChatHome } from "../support/chat/client.ts";
import { zipOf } from "../support/chat/zip.ts";
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
  it("CH-12 imports Telegram and WhatsApp exports, a repeated import adds nothing, and an agent reads them", async () => {
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

  it("CH-12 sources, chats, messages and search show the stored data", async () => {
    await runChat(home, "import", path("result.json"));
    expect((await runChat(home, "sources")).stdout).toMatch(
      /^telegram +Telegram \(imported\) +import +imported +1 chat +2 messages/,
    );
    expect((await runChat(home, "chats")).stdout).toMatch(/^telegram +\S+ +Antti +direct/);
    expect((await runChat(home, "messages", "telegram", "Antti")).stdout).toBe(
      "[2025-01-13T09:01:00Z] Alice: see you at the meeting\n[2025-01-13T09:02:00Z] Antti: ok\n",
    );
    const found = await runChat(home, "search", "meeting", "--json");
    expect(JSON.parse(found.stdout).messages).toMatchObject([{ chat_name: "Antti", sender: "Alice" }]);
  });

  it("CH-8 chats, messages and search take the filters of the tools", async () => {
    await runChat(home, "import", path("result.json"));
    const lines = async (...words: string[]) => {
      const { code, stdout } = await runChat(home, ...words);
      return [code, stdout.split("\n").filter((line) => line.includes("Antti") || line.includes("Alice")).length];
    };
    expect(await lines("messages", "telegram", "--sender", "Alice", "--since", "2025-01-01")).toEqual([0, 1]);
    expect(await lines("messages", "--search", "meet", "--mode", "prefix", "--include-system")).toEqual([0, 1]);
    expect(await lines("messages", "--before", "2025-01-13T09:01:30Z")).toEqual([0, 1]);
    expect(await lines("search", "ok", "--source", "telegram", "--chat", "Antti", "--sender", "Alice")).toEqual([0, 0]);
    expect(await lines("chats", "--type", "direct", "--name", "ant*", "--active-since", "2025-01-01")).toEqual([0, 1]);
    expect(await lines("chats", "--active-since", "2025-02-01")).toEqual([0, 0]);
    expect(await lines("chats", "--unread")).toEqual([0, 0]);
  });

  it("CH-8 errors are on stderr with the fix, and as JSON with --json", async () => {
    await runChat(home, "import", path("result.json"));
    const noChat = await runChat(home, "messages", "telegram", "Nobody");
    expect([noChat.code, noChat.stderr]).toEqual([1, "error: Chat 'Nobody' not found in source 'telegram'\n"]);
    const json = await runChat(home, "messages", "icq", "--json");
    expect(JSON.parse(json.stderr).error).toMatchObject({ code: "SOURCE_NOT_FOUND", candidates: ["telegram"] });
    const badLimit = await runChat(home, "messages", "--limit", "many");
    expect([badLimit.code, badLimit.stderr]).toEqual([1, "error: Invalid --limit 'many': use a whole number\n"]);
    const noFile = await runChat(home, "import", path("nothing.json"));
    expect([noFile.code, noFile.stderr]).toEqual([
      1,
      expect.stringMatching(/^error: \S+nothing\.json does not exist\n {2}fix: +Check the path/),
    ]);
    expect((await runChat(home, "dance")).code).toBe(2);
    await writeFile(path("chat.json"), '{"sources":{"x":{"kind":"import","colour":"red"}}}');
    const badConfig = await runChat(home, "sources");
    expect([badConfig.code, badConfig.stderr]).toEqual([
      1,
      expect.stringMatching(/sources\.x\.colour: unknown field\n {2}fix: +Correct/),
    ]);
  });
});

describe("damaged exports", () => {
  it("T23 a zip that unpacks to far more than its size leaves nothing behind, until its limit is raised", async () => {
    const line = Buffer.concat([Buffer.from("13/1/25, 10:00 - Ann: "), Buffer.alloc(40_000_000, "x")]);
    await writeFile(path("WhatsApp Chat with Ann.zip"), zipOf({ "_chat.txt": line }));
    const refused = await runChat(home, "import", path("WhatsApp Chat with Ann.zip"));
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    const raise = /beyond the limit 'ratio' of 200: .*\n {2}fix: .*(--max ratio=\d+)/.exec(refused.stderr)?.[1];
    expect(JSON.parse(await readFile(path("chat.json"), "utf8")).sources).toEqual({});
    const taken = await runChat(home, "import", ...String(raise).split(" "), path("WhatsApp Chat with Ann.zip"));
    expect(taken).toMatchObject({ code: 0, stdout: expect.stringContaining("1 new in source whatsapp") });
  });

  it("a truncated export fails and keeps what was read; the complete one adds the rest", async () => {
    const whole = JSON.stringify(EXPORT);
    await writeFile(path("result.json"), whole.slice(0, -40));
    const cut = await runChat(home, "import", path("result.json"), path("WhatsApp Chat with Ann.txt"));
    expect(cut.code).toBe(1);
    expect(cut.stdout).toMatch(/1 new in source telegram[\s\S]*2 new in source whatsapp/);
    expect(cut.stderr).toMatch(/error: .*result\.json is cut off or damaged.*\n {2}fix: +Export/);
    await writeFile(path("result.json"), whole);
    expect(await runChat(home, "import", path("result.json"))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("1 new in source telegram"),
    });
  });

  it("an export without messages is reported and exits 1, and one without chats leaves no source behind", async () => {
    await writeFile(path("WhatsApp Chat with Zoe.txt"), "");
    expect((await runChat(home, "import", path("WhatsApp Chat with Zoe.txt"))).code).toBe(1);
    expect(JSON.parse(await readFile(path("chat.json"), "utf8")).sources).toEqual({});
    await writeFile(path("result.json"), JSON.stringify({ ...EXPORT, messages: [] }));
    for (const flags of [[], ["--json"]]) {
      const empty = await runChat(home, "import", path("result.json"), ...flags);
      expect([empty.code, empty.stderr]).toEqual([
        1,
        expect.stringMatching(/^error: No messages found in \S+result\.json\n {2}fix: /),
      ]);
    }
  });

  it("messages that have expired are not stored, and others are hidden when they expire", async () => {
    const expiring = (id: string, expiresAt: number) => message("c", id, "a", "2025-01-13", id, { expiresAt });
    const events = [
      chat("c", "Ann"),
      expiring("gone", 1),
      expiring("short", Date.now() + 15_000),
      expiring("long", Date.now() + 1e9),
    ];
    await writeFile(path("events.jsonl"), events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    const imported = await runChat(home, "import", path("events.jsonl"), "--source", "events");
    expect(imported.stdout).toContain("2 new in source events");
    const shown = async () => (await runChat(home, "messages", "events")).stdout.match(/gone|short|long/g);
    await expect.poll(shown).toEqual(["long"]);
  });

  it("an invalid source id is rejected with a valid suggestion", async () => {
    const refused = await runChat(home, "import", path("result.json"), "--source", "My Wa");
    expect([refused.code, refused.stderr]).toEqual([
      1,
      "error: Invalid source id 'My Wa': use lower-case letters, digits, - and _\n  fix:   --source my-wa\n",
    ]);
  });
});

describe("an export in chat.json", () => {
  /** What agents see after a server has started and read the export. */
  const readBack = async (): Promise<{ contents: string[]; source: Record<string, unknown> }> => {
    const client = await connectChat("modern", { home });
    const connected = async () => (await client.call("list_sources")).json.sources[0];
    await expect.poll(async () => (await connected()).status).toBe("connected");
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
    expect(first.source).toMatchObject({ kind: "import", live: false, history: "snapshot", changes: [] });
    // Same size and time: the file is not read again.
    await writeFile(file, WHATSAPP.replace("hello Ann", "HELLO ANN"));
    await utimes(file, written, written);
    expect((await readBack()).contents).toEqual(["hello Ann", "hi"]);
    await writeFile(file, `${WHATSAPP}[31/12/2022, 11:42:00] Ann: lunch?\n`);
    expect((await readBack()).contents).toEqual(["lunch?", "hello Ann", "hi"]);
  });

  it("CH-8 that does not exist is a source with an error", async () => {
    await configure({ path: path("gone.json") });
    const client = await connectChat("modern", { home });
    const source = async () => (await client.call("list_sources")).json.sources[0];
    await expect.poll(async () => (await source()).status).toBe("error");
    expect(await source()).toMatchObject({
      is_connected: false,
      message: expect.stringContaining("gone.json does not exist"),
      how_to_connect: expect.stringContaining("Check the path"),
    });
    await client.close();
  });

  it("CH-12 gives its name to a live source when it is imported by a command", async () => {
    await writeFile(
      path("chat.json"),
      JSON.stringify({ sources: { telegram: { kind: "jsonl", options: { path: home.file("telegram") } } } }),
    );
    await home.append("telegram", chat("c", "Chat"), message("c", "1", "ann", "2025-01-13T10:00:00Z", "live"));
    const server = await startChat(home);
    const client = await connectChat("modern", { url: server.url });
    await expect.poll(async () => (await client.call("list_sources")).json.sources[0].status).toBe("connected");
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
  it("a Signal daemon has the same start command in `add`, in the error and in list_sources, with its own port", async () => {
    const command = "signal-cli -a +358401234567 daemon --http 127.0.0.1:1 --receive-mode on-connection";
    const added = await runChat(home, "add", "signal", "--url", "http://127.0.0.1:1", "--account", "+358401234567");
    expect(added.stdout).toContain(`\nNext: Start the daemon: ${command}\n`);
    const client = await connectChat("modern", { home });
    const source = async () => (await client.call("list_sources")).json.sources[0];
    await expect.poll(async () => (await source()).how_to_connect).toBe(`Start the daemon: \`${command}\``);
    const { json, text } = await client.call("get_messages", { source: "signal" });
    expect(json.error).toMatchObject({
      code: "SOURCE_NOT_CONNECTED",
      message: expect.stringContaining(`To connect: Start the daemon: \`${command}\``),
      hint: "With allow_stale: true you get the stored messages",
    });
    expect(text).not.toContain("..");
    await client.close();
    const wrong = await runChat(home, "add", "signal", "--url", "127.0.0.1", "--as", "second");
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("Invalid URL '127.0.0.1'") });
  });

  it("CH-12 resolves a relative file, and rejects options that the kind does not have", async () => {
    const matrix = ["add", "matrix", "--url", "https://matrix.example.org", "--token-file", "matrix-token"];
    const added = await runChat(home, ...matrix);
    const file = resolve("matrix-token");
    expect(added.stdout).toContain(`Note: ${file} is not readable yet`);
    const { sources } = JSON.parse(await readFile(path("chat.json"), "utf8"));
    expect(sources.matrix.options.token_file).toBe(file);
    const xmpp = ["add", "xmpp", "--jid", "me", "--service", "xmpps://example.org", "--password-env", "P"];
    expect(await runChat(home, ...xmpp)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("'jid': must be user@domain"),
    });
    expect(JSON.parse(await readFile(path("chat.json"), "utf8")).sources).toEqual(sources);
  });

  it("CH-12 `sources` shows the state of each source: that of the running server, or the problem of its entry", async () => {
    await runChat(home, "add", "telegram-bot", "--token-env", "BOT_TOKEN");
    await runChat(home, "add", "signal", "--url", "http://127.0.0.1:1");
    const idle = await runChat(home, "sources");
    expect(idle.stdout).toMatch(/^telegram +Telegram +telegram-bot +error +0 chats/);
    expect(idle.stdout).toMatch(/^signal +Signal +signal-cli +not running/m);
    expect(idle.stderr).toMatch(/^telegram: .*the variable BOT_TOKEN is not set\n {2}fix: {3}Set BOT_TOKEN/);
    const client = await connectChat("modern", { home });
    const status = async () => (await client.call("list_sources")).json.sources[1].status;
    await expect.poll(status).toBe("disconnected");
    const running = await runChat(home, "sources", "--json");
    expect(JSON.parse(running.stdout).sources).toMatchObject([
      { id: "telegram", status: "error" },
      { id: "signal", status: "disconnected", how_to_connect: expect.stringContaining("Start the daemon") },
    ]);
    const { text } = await client.call("get_messages", { source: "telegram" });
    expect(text.match(/Set BOT_TOKEN/g)).toHaveLength(1);
    await client.close();
    expect((await stat(path("sources.lock"))).mode & 0o777).toBe(0o600);
  });

  it("CH-12 writes a source with a reference to its secret, and never the secret", async () => {
    const added = await runChat(home, "add", "telegram-bot", "--token-env", "BOT_TOKEN");
    expect(added).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Added source telegram (telegram-bot) to "),
    });
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
    expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining("Source 'telegram' already exists")]);
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
  it("CH-12 passes everything on, including options and help", async () => {
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

it("an unknown command is an error, and status exists", async () => {
  const unknown = await runChat(home, "stauts");
  expect(unknown).toMatchObject({ code: 2, stdout: "" });
  expect(unknown.stderr).toMatch(/^error: unknown command 'stauts'\n {2}note: +Did you mean status\?\n$/);
  expect(await runChat(home, "status")).toMatchObject({ code: 0, stderr: expect.stringContaining("No sources yet") });
});

describe("access", () => {
  const config = async () => JSON.parse(await readFile(path("chat.json"), "utf8"));

  it("a chat is hidden by its name and shown again, and the rest of the file stays", async () => {
    await runChat(home, "import", path("result.json"));
    const before = await config();
    const hidden = await runChat(home, "access", "telegram", "Antti", "hidden", "--json");
    expect(JSON.parse(hidden.stdout)).toMatchObject({
      config: path("chat.json"),
      chats: [{ source: "telegram", id: "700000001", name: "Antti", access: "hidden" }],
    });
    expect((await runChat(home, "chats", "--json")).stdout).not.toContain("Antti");
    expect((await runChat(home, "access")).stdout).toMatch(/telegram +700000001 +Antti +direct +hidden/);
    await runChat(home, "access", "telegram", "700000001", "readable");
    expect(await config()).toEqual(before);
  });

  it("redaction is set, and own patterns stay", async () => {
    const patterns = [{ name: "order", pattern: "A-[0-9]+" }];
    await writeFile(path("chat.json"), JSON.stringify({ redact: { kinds: ["card"], patterns } }));
    await runChat(home, "access", "--redact", "phone,email");
    expect((await config()).redact).toEqual({ kinds: ["phone", "email"], patterns });
    await runChat(home, "access", "--redact", "none");
    expect((await config()).redact).toEqual({ kinds: [], patterns });
  });

  it("wrong words are errors that name the choices, and change nothing", async () => {
    await runChat(home, "import", path("result.json"));
    const before = await config();
    const attempts: [string[], RegExp][] = [
      [["telegram", "Antti", "open"], /hidden, readable, writable/],
      [["telegram", "Nowhere", "hidden"], /Chat 'Nowhere' not found/],
      [["telegram", "Anti", "hidden"], /Chat 'Anti' not found[^]*Did you mean 'Antti'\?/],
      [["signal", "Antti", "hidden"], /Source 'signal' not found/],
      [["telegram", "Antti", "writable"], /Nothing can be sent/],
      [["--redact", "names"], /email,iban,card,phone,code/],
    ];
    for (const [words, reason] of attempts) {
      const { code, stderr } = await runChat(home, "access", ...words);
      expect([words, code, stderr]).toEqual([words, 1, expect.stringMatching(reason)]);
    }
    expect(await config()).toEqual(before);
  });
});
