// Clients are notified of changed lists of tools and resources: by chat.json, by an import of another process, by a new chat.
// Subscribing to a source without live messages is refused with the reason, also through the hub.

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ResourceListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  chat,
  CHAT_BIN,
  connectChat,
  makeChatHome,
  message,
  person,
  runChat,
  startChat,
  type ChatHome,
  type RunningChat,
} from "../support/chat/client.ts";
import { makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";

const EVENTS = [person("ann", "Ann"), chat("c1", "Club", "group"), message("c1", "1", "ann", 1_700_000_000_000, "hi")];
const INFO = { name: "test", version: "1" };

let home: ChatHome;
let server: RunningChat;
let hubHome: Home;
let hub: RunningHub;
beforeAll(async () => {
  home = await makeChatHome({ telegram: { events: EVENTS }, whatsapp: { entry: { kind: "import" } } });
  server = await startChat(home);
  hubHome = await makeHome({
    chat: { command: process.execPath, args: [CHAT_BIN], env: { PLUGBOARD_CHAT_HOME: home.dir } },
  });
  hub = await startHub(hubHome);
});
afterAll(async () => {
  await hub.stop();
  await hubHome.remove();
  await server.stop();
  await home.remove();
});

/** A client that counts list_changed notifications. */
interface Listener {
  readonly name: string;
  readonly capabilities: unknown;
  readonly told: { tools: number; resources: number };
  readonly tools: () => Promise<readonly string[]>;
  readonly resources: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

async function legacy(name: string, transport: HttpV1 | StdioV1): Promise<Listener> {
  const told = { tools: 0, resources: 0 };
  const client = new ClientV1(INFO);
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void told.tools++);
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => void told.resources++);
  await client.connect(transport);
  return {
    name,
    capabilities: client.getServerCapabilities(),
    told,
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    close: () => client.close(),
  };
}

async function modern(name: string, transport: HttpV2 | StdioV2): Promise<Listener> {
  const told = { tools: 0, resources: 0 };
  const client = new ClientV2(INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  client.setNotificationHandler("notifications/tools/list_changed", () => void told.tools++);
  client.setNotificationHandler("notifications/resources/list_changed", () => void told.resources++);
  await client.connect(transport);
  await client.listen({ toolsListChanged: true, resourcesListChanged: true });
  return {
    name,
    capabilities: client.getServerCapabilities(),
    told,
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    close: () => client.close(),
  };
}

describe("CH-10 changed lists", () => {
  it("are announced to clients of both eras, over stdio, HTTP and the hub", async () => {
    const launch = { command: process.execPath, args: [CHAT_BIN], env: { ...home.env }, stderr: "ignore" as const };
    const listeners = [
      await legacy("legacy http", new HttpV1(new URL(server.url))),
      await modern("modern http", new HttpV2(new URL(server.url))),
      await legacy("legacy stdio", new StdioV1(launch)),
      await modern("modern stdio", new StdioV2(launch)),
      await legacy("legacy hub", new HttpV1(new URL(`${hub.url}/mcp`))),
      await modern("modern hub", new HttpV2(new URL(`${hub.url}/mcp`))),
    ];
    const heard = async (kind: "tools" | "resources") => {
      const deaf = () => listeners.filter(({ told }) => told[kind] === 0).map(({ name }) => name);
      await expect.poll(deaf).toEqual([]);
    };
    const forget = () => {
      for (const { told } of listeners) Object.assign(told, { tools: 0, resources: 0 });
    };
    for (const { capabilities } of listeners)
      expect(capabilities).toMatchObject({ tools: { listChanged: true }, resources: { listChanged: true } });

    // Another process imports a new source.
    const file = join(home.dir, "WhatsApp Chat with Ann.txt");
    await writeFile(file, "[31/12/2022, 11:40:26] Ann: hi\n");
    forget();
    expect((await runChat(home, "import", file, "--source", "holiday")).code).toBe(0);
    await heard("resources");
    for (const { resources } of listeners) await expect.poll(resources).toContain("chats://holiday");
    expect(listeners.map(({ told }) => told.tools)).toEqual(listeners.map(() => 0));

    // A new chat in an existing source.
    forget();
    await home.append("telegram", chat("c2", "New club", "group"), message("c2", "1", "ann", Date.now(), "welcome"));
    await heard("resources");
    for (const { resources } of listeners) await expect.poll(resources).toContain("messages://telegram/c2");

    // A source that allows sending; it need not be connected.
    forget();
    const path = join(home.dir, "chat.json");
    const config = JSON.parse(await readFile(path, "utf8"));
    config.sources.bot = {
      kind: "telegram-bot",
      options: { token: "1:a", api_root: "http://127.0.0.1:1" },
      send: { chats: ["Club"] },
    };
    await writeFile(`${path}.draft`, JSON.stringify(config));
    await rename(`${path}.draft`, path);
    await heard("tools");
    for (const { tools } of listeners)
      await expect.poll(async () => (await tools()).some((name) => name.endsWith("send_message"))).toBe(true);

    // A save without a change causes no notification.
    forget();
    const before = server.stderr().length;
    await writeFile(`${path}.draft`, JSON.stringify(config, undefined, 2));
    await rename(`${path}.draft`, path);
    await expect.poll(() => server.stderr().slice(before)).toContain("sources are unchanged");
    expect(listeners[0]?.told).toEqual({ tools: 0, resources: 0 });
    for (const listener of listeners) await listener.close();
  });
});

describe("CH-10 a subscription to a source without live messages", () => {
  const refusal = {
    message: expect.stringContaining("Source 'whatsapp' does not support streaming"),
    data: expect.objectContaining({ code: "STREAMING_NOT_SUPPORTED", field: "source" }),
  };

  it.each(["legacy", "modern"] as const)("is refused with the reason, directly, for a %s client", async (era) => {
    for (const where of [{ url: server.url }, { home }]) {
      const client = await connectChat(era, where);
      await expect(client.watch("messages://whatsapp/*")).rejects.toMatchObject(refusal);
      await expect(client.watch("messages://telegram/none")).rejects.toMatchObject({
        code: era === "legacy" ? -32_002 : -32_602,
        data: { code: "CHAT_NOT_FOUND" },
      });
      await client.close();
    }
  });

  it("is refused with the reason through the hub", async () => {
    const client = await connectChat("legacy", { url: `${hub.url}/mcp` });
    await expect(client.watch("messages://whatsapp/*")).rejects.toMatchObject(refusal);
    expect(await client.watch("messages://telegram/*")).toEqual(["messages://telegram/*"]);
    await client.close();
  });
});
