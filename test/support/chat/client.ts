// Runs the built chat server as a user does, with sources that follow event files: appending a line delivers a new message.

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const CHAT_BIN = fileURLToPath(new URL("../../../chat/bin/plugboard-chat.js", import.meta.url));

export interface ChatHome {
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Path of the file that a jsonl source follows. */
  file(source: string): string;
  append(source: string, ...events: readonly object[]): Promise<void>;
  remove(): Promise<void>;
}

type Entry = Readonly<Record<string, unknown>>;

/** A fresh PLUGBOARD_CHAT_HOME. A source given as events follows a file with them. */
export async function makeChatHome(
  sources: Readonly<Record<string, { readonly events?: readonly object[]; readonly entry?: Entry }>>,
  config: Entry = {},
): Promise<ChatHome> {
  const dir = await mkdtemp(join(tmpdir(), "plugboard-chat-test-"));
  const file = (source: string) => join(dir, `${source}.events.jsonl`);
  const toLines = (events: readonly object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join("");
  const entries: Record<string, unknown> = {};
  for (const [id, { events, entry = {} }] of Object.entries(sources)) {
    if (events !== undefined) await writeFile(file(id), toLines(events));
    entries[id] = "kind" in entry ? entry : { kind: "jsonl", options: { path: file(id) }, ...entry };
  }
  await writeFile(join(dir, "chat.json"), JSON.stringify({ time_zone: "UTC", ...config, sources: entries }));
  return {
    dir,
    env: { PATH: process.env["PATH"] ?? "", HOME: dir, PLUGBOARD_CHAT_HOME: dir },
    file,
    append: (source, ...events) => appendFile(file(source), toLines(events)),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}

export const chat = (id: string, name: string, type = "direct", participantCount = 2) => ({
  type: "chat",
  chat: { id, name, type, participantCount },
});

export const person = (id: string, name: string, more: Entry = {}) => ({
  type: "person",
  person: { id, name, ...more },
});

export const message = (
  chatId: string,
  id: string,
  sender: string,
  at: string | number,
  content: string,
  { origin = "import", ...more }: Entry = {},
) => ({
  type: "message",
  origin,
  message: { id, chat: chatId, sender, at: new Date(at).getTime(), kind: "text", content, ...more },
});

export interface RunningChat {
  readonly process: ChildProcessWithoutNullStreams;
  /** URL of /mcp. */
  readonly url: string;
  stderr(): string;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Runs `plugboard-chat serve --port 0`. Resolves when it prints its address. */
export async function startChat(
  home: ChatHome,
  { args = [], env = {} }: { readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<RunningChat> {
  const child = spawn(process.execPath, [CHAT_BIN, "serve", "--port", "0", ...args], { env: { ...home.env, ...env } });
  let stdout = "";
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const exited = once(child, "exit");
  const killLast = () => void child.kill("SIGKILL");
  process.once("exit", killLast);
  void exited.then(() => process.off("exit", killLast));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
      if (/^MCP\s+\S+\n/m.test(stdout)) resolve();
    });
    void exited.then(() => reject(new Error(`the chat server ended early:\n${stdout}\n${stderr}`)));
  });
  const ended = exited.then(() => child.exitCode);
  return {
    process: child,
    ended,
    url: /^MCP\s+(\S+)\n/m.exec(stdout)?.[1] ?? "",
    stderr: () => stderr,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
      return await ended;
    },
  };
}

/** Runs one command to completion. */
export async function runChat(
  home: ChatHome,
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, [CHAT_BIN, ...args], { env: home.env });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  child.stdin.end();
  await once(child, "close");
  return { code: child.exitCode, stdout, stderr };
}

export interface Update {
  readonly uri: string;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly meta: Readonly<Record<string, unknown>>;
}

export interface ToolResult {
  readonly isError: boolean;
  readonly text: string;
  readonly content: readonly unknown[];
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  readonly json: any;
}

/** An official SDK client of one era over one transport, with helpers for the scenarios. */
export interface ChatClient {
  readonly capabilities: Readonly<Record<string, unknown>> | undefined;
  readonly updates: readonly Update[];
  /** The server process, over stdio. */
  readonly pid: number | null;
  tools(): Promise<
    readonly { name: string; description?: string | undefined; inputSchema: unknown; outputSchema?: unknown }[]
  >;
  templates(): Promise<readonly { uriTemplate: string; description?: string | undefined }[]>;
  resources(): Promise<readonly { uri: string; name: string }[]>;
  prompts(): Promise<readonly { name: string; arguments?: readonly { name: string }[] | undefined }[]>;
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<ToolResult>;
  contents(uri: string): Promise<readonly unknown[]>;
  read(uri: string): Promise<string>;
  readMeta(uri: string): Promise<Readonly<Record<string, unknown>>>;
  prompt(name: string, args: Readonly<Record<string, string>>): Promise<string>;
  /** Returns the accepted URIs. Throws if a legacy server refuses. */
  watch(...uris: string[]): Promise<readonly string[]>;
  unwatch(uri: string): Promise<void>;
  /** The n-th update, from 1. */
  update(count: number): Promise<Update>;
  close(): Promise<void>;
}

export type Era = "legacy" | "modern";
/** A URL, or a home in which the client launches the server. */
export type Where =
  | { readonly url: string; readonly token?: string }
  | { readonly home: ChatHome; readonly args?: readonly string[]; readonly command?: readonly string[] };

const INFO = { name: "test", version: "1" };
const MODERN = "2026-07-28";

export async function connectChat(era: Era, where: Where): Promise<ChatClient> {
  const updates: Update[] = [];
  const waiting = new Set<() => void>();
  const heard = (params: { uri: string; _meta?: Readonly<Record<string, unknown>> | undefined }): void => {
    const meta = params._meta ?? {};
    updates.push({ uri: params.uri, meta, messages: (meta["plugboard-chat/messages"] ?? []) as Update["messages"] });
    for (const wake of waiting) wake();
    waiting.clear();
  };
  const update = async (count: number): Promise<Update> => {
    while (updates.length < count) await new Promise<void>((resolve) => waiting.add(resolve));
    return updates[count - 1] as Update;
  };
  const init =
    "url" in where && where.token !== undefined
      ? { requestInit: { headers: { authorization: `Bearer ${where.token}` } } }
      : {};
  const launch =
    "home" in where
      ? {
          command: process.execPath,
          args: [...(where.command ?? [CHAT_BIN]), ...(where.args ?? [])],
          env: { ...where.home.env },
          stderr: "ignore" as const,
        }
      : undefined;
  if (era === "legacy") {
    const client = new ClientV1(INFO);
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => heard(params));
    const transport =
      launch === undefined ? new HttpV1(new URL((where as { url: string }).url), init) : new StdioV1(launch);
    await client.connect(transport);
    return {
      ...common(client as unknown as AnyClient),
      updates,
      update,
      pid: transport instanceof StdioV1 ? transport.pid : null,
      watch: async (...uris) => {
        for (const uri of uris) await client.subscribeResource({ uri });
        return uris;
      },
      unwatch: async (uri) => void (await client.unsubscribeResource({ uri })),
      close: () => client.close(),
    };
  }
  const client = new ClientV2(INFO, { versionNegotiation: { mode: { pin: MODERN } } });
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => heard(params));
  const transport =
    launch === undefined ? new HttpV2(new URL((where as { url: string }).url), init) : new StdioV2(launch);
  await client.connect(transport);
  const open: { readonly uris: readonly string[]; close(): Promise<void> }[] = [];
  return {
    ...common(client as unknown as AnyClient),
    updates,
    update,
    pid: transport instanceof StdioV2 ? transport.pid : null,
    watch: async (...uris) => {
      const subscription = await client.listen({ resourceSubscriptions: uris });
      open.push({ uris, close: () => subscription.close() });
      return subscription.honoredFilter.resourceSubscriptions ?? [];
    },
    unwatch: async (uri) => {
      for (const subscription of open) if (subscription.uris.includes(uri)) await subscription.close();
    },
    close: () => client.close(),
  };
}

/** Common interface of both SDK generations. */
interface AnyClient {
  getServerCapabilities(): Readonly<Record<string, unknown>> | undefined;
  listTools(): Promise<{
    tools: readonly { name: string; description?: string; inputSchema: unknown; outputSchema?: unknown }[];
  }>;
  listResourceTemplates(): Promise<{ resourceTemplates: readonly { uriTemplate: string; description?: string }[] }>;
  listResources(): Promise<{ resources: readonly { uri: string; name: string }[] }>;
  listPrompts(): Promise<{ prompts: readonly { name: string; arguments?: readonly { name: string }[] }[] }>;
  callTool(params: { name: string; arguments: Readonly<Record<string, unknown>> }): Promise<{
    isError?: boolean;
    content: readonly { type: string; text?: string }[];
    structuredContent?: unknown;
  }>;
  readResource(params: {
    uri: string;
  }): Promise<{ contents: readonly { text?: string; _meta?: Readonly<Record<string, unknown>> }[] }>;
  getPrompt(params: { name: string; arguments: Readonly<Record<string, string>> }): Promise<{
    messages: readonly { content: { type: string; text?: string } }[];
  }>;
}

function common(client: AnyClient) {
  return {
    capabilities: client.getServerCapabilities(),
    tools: async () => (await client.listTools()).tools,
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    resources: async () => (await client.listResources()).resources,
    prompts: async () => (await client.listPrompts()).prompts,
    call: async (name: string, args: Readonly<Record<string, unknown>> = {}) => {
      const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: args });
      return { isError, content, text: content.map(({ text = "" }) => text).join(""), json: structuredContent };
    },
    contents: async (uri: string) => (await client.readResource({ uri })).contents,
    read: async (uri: string) => (await client.readResource({ uri })).contents.map(({ text = "" }) => text).join(""),
    readMeta: async (uri: string) => (await client.readResource({ uri })).contents[0]?._meta ?? {},
    prompt: async (name: string, args: Readonly<Record<string, string>>) =>
      (await client.getPrompt({ name, arguments: args })).messages.map(({ content }) => content.text ?? "").join("\n"),
  };
}
