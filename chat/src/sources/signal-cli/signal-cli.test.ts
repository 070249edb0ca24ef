import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeSource, type SendOptions, type Network } from "../../../../test/support/chat/contract.ts";
import { importFile, temporaryFolder } from "../../../../test/support/chat/import-file.ts";
import { FRAMES, item, jsonLines, standard } from "../../../../test/support/chat/signal-export.ts";
import { Run } from "../../../../test/support/chat/source-run.ts";
import { signalImporter } from "../../importers/signal/importer.ts";
import type { Timing } from "../backoff.ts";
import { ACCOUNT, ALICE, SELF, SignalCliDouble, WEEKEND } from "../../../../test/support/chat/signal-cli-double.ts";
import { createSignalCli } from "./signal-cli.ts";

const source = (url: string, timing: Timing) => createSignalCli({ id: "signal", url, timing });

async function createNetwork(hasIds: boolean): Promise<Network> {
  const double = await SignalCliDouble.start({ hasIds });
  const data = (fields: object, timestamp = double.timestamp()) =>
    double.receive({
      ...ALICE,
      timestamp,
      dataMessage: { timestamp, message: null, expiresInSeconds: 0, viewOnce: false, groupInfo: WEEKEND, ...fields },
    });
  const announce = (message: string, { at = double.timestamp() }: SendOptions = {}) => ({
    target: String(at),
    say: async (): Promise<void> => data({ message }, at),
  });
  return {
    createSource: (timing) => source(double.url, timing),
    entry: () => ({ kind: "signal-cli", options: { url: double.url } }),
    line: { sourceAt: (port, timing) => source(`http://127.0.0.1:${port}`, timing), cut: async () => double.cut() },
    exported: async (messages, older) => {
      const folder = await temporaryFolder();
      const long = { chatId: "2", authorId: "4", dateSent: "1500000000000", incoming: {}, ...standard(older) };
      const frames = [
        ...FRAMES,
        { chatItem: long },
        ...messages.map(({ at, content }) => item(0, { dateSent: String(at), ...standard(content) })),
      ];
      const { events } = await importFile(signalImporter, await folder.file("main.jsonl", jsonLines(frames)));
      await folder.remove();
      return events;
    },
    actions: {
      edits: async (target, message) => {
        const timestamp = double.timestamp();
        const dataMessage = { timestamp, message, expiresInSeconds: 0, viewOnce: false, groupInfo: WEEKEND };
        double.receive({ ...ALICE, timestamp, editMessage: { targetSentTimestamp: Number(target), dataMessage } });
      },
      reactions: async (target) => {
        data({
          reaction: {
            emoji: "👍",
            targetAuthor: ALICE.source,
            targetAuthorNumber: ALICE.source,
            targetAuthorUuid: ALICE.sourceUuid,
            targetSentTimestamp: Number(target),
            isRemove: false,
          },
        });
        return "👍";
      },
      deletions: async (target) => data({ remoteDelete: { timestamp: Number(target) } }),
    },
    send: (text, how) => announce(text, how).say(),
    sendAll: async (texts) => {
      for (const text of texts) await announce(text).say();
    },
    reserve: announce,
    target: (message) => message.id.split(":").at(-1) ?? "",
    unseenTarget: () => "1500000000000",
    refuse: async (refused) => void (double.accounts = refused ? [] : [ACCOUNT]),
    refusedAs: "needs_auth",
    open: () => double.listening,
    close: () => double.close(),
  };
}

describeSource("signal-cli", { many: 100_000, keepsWhileAway: true }, () => createNetwork(true));
describeSource("signal-cli before it kept events", { many: 100_000, keepsWhileAway: false }, () =>
  createNetwork(false),
);

describe("CH-12 Signal through signal-cli", () => {
  let double: SignalCliDouble;
  let run: Run;
  const start = (checkpoint: Record<string, string> = {}): Run =>
    new Run((timing) => source(double.url, timing), { checkpoint });
  beforeEach(async () => {
    double = await SignalCliDouble.start();
  });
  afterEach(async () => {
    await run.stop();
    await double.close();
  });
  const data = (fields: object) => {
    const timestamp = double.timestamp();
    double.receive({ ...ALICE, timestamp, dataMessage: { timestamp, message: null, expiresInSeconds: 0, ...fields } });
    return timestamp;
  };

  it("identifies messages by author and time, names groups, and replaces mentions by names", async () => {
    run = start();
    const timestamp = data({
      message: "\u{1F600} \uFFFC lunch? \uFFFC",
      groupInfo: WEEKEND,
      mentions: [
        { name: "Bob", number: "+15550000002", uuid: "22222222-2222-4222-8222-222222222222", start: 3, length: 1 },
        { name: null, number: "+15550000003", uuid: null, start: 12, length: 1 },
      ],
    });
    expect(await run.message("\u{1F600} @Bob lunch? @+15550000003")).toEqual({
      id: `${ALICE.sourceUuid}:${timestamp}`,
      chat: WEEKEND.groupId,
      sender: ALICE.sourceUuid,
      at: timestamp,
      kind: "text",
      content: "\u{1F600} @Bob lunch? @+15550000003",
    });
    expect(run.chats.get(WEEKEND.groupId)).toEqual({
      id: WEEKEND.groupId,
      name: "Weekend",
      type: "group",
      participantCount: 2,
    });
    expect(run.people.get(ALICE.sourceUuid)).toMatchObject({ name: "Alice", phone: "+15550000001" });
  });

  it("reads people without a visible number, from contacts and messages", async () => {
    run = start();
    const uuid = "33333333-3333-4333-8333-333333333333";
    const timestamp = double.timestamp();
    const dataMessage = { timestamp, message: "psst", expiresInSeconds: 0 };
    double.receive({
      source: uuid,
      sourceNumber: null,
      sourceUuid: uuid,
      sourceName: "Hidden",
      timestamp,
      dataMessage,
    });
    expect(await run.message("psst")).toMatchObject({ chat: uuid, sender: uuid });
    expect(run.people.get(uuid)).toEqual({ id: uuid, name: "Hidden" });
  });

  it("reads the user's messages from other devices: direct, group, edited, to self", async () => {
    run = start();
    const own = { source: ACCOUNT, sourceNumber: ACCOUNT, sourceUuid: SELF, sourceName: "Me", sourceDevice: 2 };
    const sent = (fields: object, timestamp = double.timestamp()) => {
      double.receive({ ...own, timestamp, syncMessage: { sentMessage: { timestamp, ...fields } } });
      return timestamp;
    };
    const toAlice = { destination: ALICE.source, destinationNumber: ALICE.source, destinationUuid: ALICE.sourceUuid };
    const nowhere = { destination: null, destinationNumber: null, destinationUuid: null };
    const first = sent({ ...toAlice, message: "sent from phone" });
    sent({ ...nowhere, message: "to all", groupInfo: WEEKEND });
    sent({ ...toAlice, destinationUuid: SELF, message: "remember" });
    const edited = {
      targetSentTimestamp: first,
      dataMessage: { timestamp: first + 50, message: "sent from my phone" },
    };
    sent({ ...toAlice, editMessage: edited });
    expect(await run.message("sent from phone")).toMatchObject({ chat: ALICE.sourceUuid, sender: "self" });
    expect(await run.message("to all")).toMatchObject({ chat: WEEKEND.groupId, sender: "self" });
    expect((await run.message("remember")).chat).toBe("self");
    expect(run.chats.get("self")?.type).toBe("self");
    expect(await run.event("edit", () => true)).toMatchObject({ chat: ALICE.sourceUuid, id: `self:${first}` });
    expect(run.people.get("self")).toMatchObject({ isSelf: true, sameAs: [ACCOUNT, SELF] });
  });

  it("emits messages read on another device", async () => {
    run = start();
    const at = data({ message: "unread so far" });
    await run.message("unread so far");
    const by = { sender: ALICE.source, senderNumber: ALICE.source, senderUuid: ALICE.sourceUuid };
    const owner = { source: ACCOUNT, sourceNumber: ACCOUNT, sourceUuid: SELF, sourceName: "Me" };
    const syncMessage = { readMessages: [{ ...by, timestamp: at }] };
    double.receive({ ...owner, timestamp: double.timestamp(), syncMessage });
    expect(await run.event("read", () => true)).toEqual({ type: "read", id: `${ALICE.sourceUuid}:${at}`, at });
  });

  it("resolves revisions to their message, also after a restart", async () => {
    run = start();
    const first = data({ message: "one" });
    const edit = (target: number, message: string) => {
      const timestamp = double.timestamp();
      const editMessage = { targetSentTimestamp: target, dataMessage: { timestamp, message } };
      double.receive({ ...ALICE, timestamp, editMessage });
      return timestamp;
    };
    const second = edit(first, "two");
    await run.event("edit", ({ content }) => content === "two");
    await run.stop();
    run = start(run.recorder.checkpoint);
    const third = edit(second, "three");
    expect(await run.event("edit", ({ content }) => content === "three")).toMatchObject({
      id: `${ALICE.sourceUuid}:${first}`,
    });
    data({ message: "yes", quote: { id: third, author: ALICE.source, authorUuid: ALICE.sourceUuid, text: "three" } });
    expect((await run.message("yes")).replyTo).toBe(`${ALICE.sourceUuid}:${first}`);
  });

  it("reads attachments, stickers, polls, calls, timers and group changes", async () => {
    run = start();
    const attachments = [
      { contentType: "image/jpeg", filename: "p.jpg", id: "AbC.jpg", size: 12345 },
      { contentType: "audio/aac", filename: null, id: "x", size: 7, isVoiceNote: true },
    ];
    const at = data({ message: "look", attachments, expiresInSeconds: 60 });
    data({ sticker: { packId: "aa", stickerId: 1, emoji: "🦊" } });
    data({ pollCreate: { question: "When?", options: ["Now", "Later"] } });
    data({ groupInfo: { ...WEEKEND, type: "UPDATE" } });
    data({ expiresInSeconds: 3600, isExpirationUpdate: true });
    data({ contacts: [{ name: { display: "Bob" } }] });
    const timestamp = double.timestamp();
    double.receive({ ...ALICE, timestamp, callMessage: { offerMessage: { id: 1, type: "AUDIO_CALL" } } });
    double.receive(
      { ...ALICE, timestamp: double.timestamp() },
      { exception: { message: "no", type: "InvalidMessage" } },
    );
    await run.message("A message that signal-cli could not decrypt");
    const stored = [...run.recorder.messages.values()];
    expect(stored.map(({ kind, content }) => [kind, content])).toEqual([
      ["media", "look"],
      ["sticker", "🦊"],
      ["poll", "When?\n- Now\n- Later"],
      ["system", "The group was changed"],
      ["system", "Messages disappear after 3600 s"],
      ["contact", "Bob"],
      ["call", "Call"],
      ["unsupported", "A message that signal-cli could not decrypt"],
    ]);
    expect(stored[0]).toMatchObject({
      expiresAt: at + 60_000,
      attachments: [
        { kind: "image", name: "p.jpg", mime: "image/jpeg", size: 12345, available: false },
        { kind: "voice", mime: "audio/aac", size: 7, available: false },
      ],
    });
  });

  it("ignores receipts, typing and messages between devices", async () => {
    run = start();
    const timestamp = double.timestamp();
    double.receive({ ...ALICE, timestamp, receiptMessage: { when: 1, isRead: true, timestamps: [1] } });
    double.receive({ ...ALICE, timestamp, typingMessage: { action: "STARTED", timestamp } });
    double.receive({ ...ALICE, timestamp, syncMessage: {} });
    data({});
    double.receive({ nonsense: true });
    data({ message: "words" });
    await run.message("words");
    expect(run.recorder.messages.size).toBe(1);
    expect(run.logged).toEqual([expect.stringContaining("unknown form")]);
  });

  it("fetches missed events if the daemon keeps them, and records a gap if not", async () => {
    run = start();
    data({ message: "kept from before" });
    await run.message("kept from before");
    expect(run.recorder.events.some(({ type }) => type === "gap")).toBe(false);
    await run.stop();
    await double.close();

    double = await SignalCliDouble.start({ hasIds: false });
    const seenAt = Date.now() - 5000;
    run = start({ seenAt: String(seenAt) });
    expect(await run.event("gap", () => true)).toMatchObject({ from: seenAt });
  });

  it("reconnects when the daemon is silent", async () => {
    run = new Run((timing) => createSignalCli({ id: "signal", url: double.url, timing, silenceMs: 50 }));
    expect(await run.state("disconnected")).toMatchObject({ message: expect.stringContaining("in time") });
    await run.connected(2);
  });

  it("reads a stream with any chunking, also inside characters", async () => {
    run = start();
    await run.connected();
    const timestamp = double.timestamp();
    const envelope = { ...ALICE, timestamp, dataMessage: { timestamp, message: "grüße 👋🏽" } };
    const bytes = Buffer.from(`event:receive\r\ndata:${JSON.stringify({ envelope })}\r\n\r\n`);
    for (const byte of bytes) double.writeRaw(Buffer.from([byte]) as unknown as string);
    expect(await run.message("grüße 👋🏽")).toMatchObject({ at: timestamp });
  });

  it("sends to people and groups, as a reply, once per key", async () => {
    run = start();
    await run.connected();
    const request = { chat: ALICE.sourceUuid, text: "hi", replyTo: `${ALICE.sourceUuid}:123`, idempotencyKey: "a" };
    const [first, second] = await Promise.all([run.source.send?.(request), run.source.send?.(request)]);
    expect(second).toEqual(first);
    await run.source.send?.({ chat: WEEKEND.groupId, text: "all", idempotencyKey: "b" });
    await run.source.send?.({ chat: "self", text: "note", replyTo: "self:5", idempotencyKey: "c" });
    const sent = double.calls.filter(({ method }) => method === "send").map(({ params }) => params);
    expect(sent).toEqual([
      {
        account: ACCOUNT,
        recipient: [ALICE.sourceUuid],
        message: "hi",
        quoteAuthor: ALICE.sourceUuid,
        quoteTimestamp: 123,
      },
      { account: ACCOUNT, groupId: WEEKEND.groupId, message: "all" },
      { account: ACCOUNT, noteToSelf: true, quoteAuthor: ACCOUNT, quoteTimestamp: 5, message: "note" },
    ]);
    expect(await run.message("hi")).toMatchObject({ id: first?.id, sender: "self", chat: ALICE.sourceUuid });
  });

  it.each([
    [-5, "RATE_LIMITED"],
    [-4, "SEND_NOT_ALLOWED"],
    [-3, "TIMEOUT"],
    [-1, "INVALID_PARAMETER"],
  ])("reports why a message was not sent (%i)", async (code, expected) => {
    run = start();
    await run.connected();
    double.refusals.set("send", { code, message: "no" });
    const request = { chat: WEEKEND.groupId, text: "hi", idempotencyKey: "x" };
    await expect(run.source.send?.(request)).rejects.toMatchObject({ code: expected });
  });

  it("works with a daemon for one account, and without Signal's servers", async () => {
    double.accounts = undefined;
    run = start();
    await run.connected();
    data({ message: "single" });
    await run.message("single");
    await run.stop();
    double.accounts = [ACCOUNT];
    double.refusals.set("getUserStatus", { code: -3, message: "offline" });
    run = start();
    await run.connected();
    expect(double.calls.some(({ method }) => method === "getUserStatus")).toBe(true);
  });

  it("warns about a daemon off loopback", async () => {
    run = new Run((timing) => source("http://192.0.2.1:8080", timing), { holdPauses: true });
    expect(run.logged).toEqual([expect.stringContaining("has no authentication")]);
  });
});

// Receiving is not tested: it needs Signal's servers.
const daemonUrl = process.env["SIGNAL_CLI_URL"];
describe.skipIf(daemonUrl === undefined)("CH-12 a real signal-cli daemon (SIGNAL_CLI_URL)", () => {
  it("without a linked account, the error says how to link one", async () => {
    const run = new Run((timing) => source(daemonUrl ?? "", timing), { holdPauses: true });
    expect(await run.state("needs_auth")).toMatchObject({ howToConnect: expect.stringContaining("link") });
    await run.stop();
  });

  it("answers like the double", async () => {
    const double = await SignalCliDouble.start();
    double.accounts = [];
    const ask = async (url: string, init: RequestInit & { path?: string }) => {
      const response = await fetch(`${url}/api/v1/${init.path ?? "rpc"}`, init);
      const body = (await response.json().catch(() => ({}))) as { error?: { code: number }; result?: unknown };
      return { status: response.status, code: body.error?.code, result: body.result };
    };
    const rpc = (method: string, params: object = {}) => ({
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: "1", method, params }),
    });
    const questions = [
      { method: "GET", path: "check" },
      { method: "GET", path: "events?account=%2B15550000000" },
      { method: "GET" },
      { method: "POST", body: "{}", headers: { "content-type": "text/plain" } },
      rpc("listAccounts"),
      rpc("noSuchMethod", { account: "+15550000000" }),
      rpc("listGroups", { account: "+15550000000" }),
    ];
    for (const question of questions) {
      expect(await ask(daemonUrl ?? "", question)).toEqual(await ask(double.url, question));
    }
    await double.close();
  });
});
