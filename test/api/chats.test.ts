// What agents may see of the chats of a chat server, changed through the API; the chat server follows, and agents see it.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HubClient } from "../../hub/src/api/client/client.ts";
import { clientOf } from "../support/client.ts";
import { chat, CHAT_BIN, makeChatHome, message, type ChatHome } from "../support/chat/client.ts";
import { fixture, makeHome, startHub, type RunningHub } from "../support/hub.ts";

const EVENTS = [
  chat("fam", "Family", "group"),
  chat("doc", "Doctor"),
  message("fam", "1", "ann", "2025-01-01T10:00:00Z", "pizza, call +358 40 123 4567"),
  message("doc", "2", "bob", "2025-01-01T11:00:00Z", "your results"),
];

describe("access of agents to chats", () => {
  let home: ChatHome;
  let hub: RunningHub;
  let api: HubClient;

  beforeAll(async () => {
    home = await makeChatHome({ net: { events: EVENTS } });
    const entry = { command: process.execPath, args: [CHAT_BIN], env: { PLUGBOARD_CHAT_HOME: home.dir } };
    hub = await startHub(await makeHome({ talk: entry, other: fixture("echo") }));
    api = await clientOf(hub);
  });

  afterAll(async () => {
    await hub?.stop();
    await hub?.home.remove();
    await home?.remove();
  });

  const config = async () => JSON.parse(await readFile(join(home.dir, "chat.json"), "utf8"));
  /** What an agent gets. */
  const ask = async (tool: string) => JSON.stringify(await api.callTool({ server: "talk", tool: tool, arguments: {} }));

  it("a hidden chat does not exist for agents, and comes back", async () => {
    expect(await api.chats.access("talk")).toMatchObject({
      config: join(home.dir, "chat.json"),
      chats: [],
      redact: [],
    });
    const hidden = await api.chats.changeAccess("talk", { chat: { source: "net", id: "doc", access: "hidden" } });
    expect(hidden.chats).toEqual([
      { source: "net", id: "doc", name: "Doctor", type: "direct", message_count: 1, access: "hidden" },
    ]);
    expect((await config()).sources.net.chats).toEqual({ hide: ["doc"] });
    await expect.poll(() => ask("list_chats")).not.toContain("Doctor");
    expect(await ask("list_chats")).toContain("Family");
    expect(
      (await api.chats.changeAccess("talk", { chat: { source: "net", id: "doc", access: "readable" } })).chats,
    ).toEqual([]);
    await expect.poll(() => ask("list_chats")).toContain("Doctor");
  });

  it("redaction is turned on and off", async () => {
    expect((await api.chats.changeAccess("talk", { redact: ["phone"] })).redact).toEqual(["phone"]);
    await expect.poll(() => ask("get_messages")).toContain("[phone-1]");
    expect((await api.chats.changeAccess("talk", { redact: [] })).redact).toEqual([]);
    expect(await config()).not.toHaveProperty("redact");
  });

  it("errors of the chat command are errors of the API", async () => {
    const change = (source: string, id: string, access: "hidden" | "writable") =>
      api.chats.changeAccess("talk", { chat: { source, id, access } });
    await expect(change("net", "nowhere", "hidden")).rejects.toMatchObject({
      kind: "InvalidArgument",
      message: "Chat 'nowhere' not found in source 'net'",
    });
    await expect(change("net", "--json", "hidden")).rejects.toMatchObject({ kind: "InvalidArgument" });
    await expect(change("net", "fam", "writable")).rejects.toMatchObject({ field: "level" });
  });

  it("a server that is no chat server is refused, whatever its name", async () => {
    await expect(api.chats.access("other")).rejects.toMatchObject({ message: "other is not a chat server" });
    await expect(api.chats.access("absent")).rejects.toMatchObject({ kind: "ServerNotFound" });
  });

  it("agents are offered no tool that changes their access", async () => {
    const names = (await api.servers.tools("talk")).map(({ name }) => name);
    expect(names).toContain("list_chats");
    expect(names.filter((name) => /access|import|config|hide|admin/.test(name))).toEqual([]);
  });
});
