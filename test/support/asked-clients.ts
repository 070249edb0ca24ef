// Clients of the official SDKs that answer requests of servers: the first generation speaks the legacy protocol, the second is
// pinned to the modern one. They answer at once unless a test says otherwise, and record the requests.

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { BIN, type Home } from "./hub.ts";
import { Messages } from "./streams.ts";

export type ClientEra = "legacy" | "modern";

/** Where the hub is: an address, or a home in which the client launches it itself. */
export type Where = { readonly url: string; readonly token?: string } | { readonly home: Home };

type Params = Readonly<Record<string, unknown>>;
export type Reply = (params: Params, signal: AbortSignal) => unknown;

export interface AskedOptions {
  readonly capabilities?: Params;
  readonly elicit?: Reply;
  /** How often a modern client retries a call with the requested input. */
  readonly rounds?: number;
}

export interface AskedClient {
  /** The method and params of every request. */
  readonly asked: Messages;
  /** Elicitations whose completion the client was notified of. */
  readonly completed: Messages;
  call(
    name: string,
    args?: Params,
    options?: { signal?: AbortSignal; onprogress?: (progress: unknown) => void },
  ): Promise<CallResult>;
  getPrompt(name: string): Promise<string>;
  readResource(uri: string): Promise<string>;
  close(): Promise<void>;
}

export interface CallResult {
  readonly isError: boolean;
  readonly text: string;
}

export const ABLE = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: {},
};

const ROOTS = { roots: [{ uri: "file:///home", name: "home" }] };
const SAMPLED = { role: "assistant", model: "none", content: { type: "text", text: "sampled" } } as const;
/** The answer of a client to a form, with the name of the server that sent it. */
const sayBack: Reply = (params) =>
  params["mode"] === "url"
    ? { action: "accept" }
    : { action: "accept", content: { said: `you asked: ${String(params["message"])}` } };

/** A request as its server sent it: the name that the hub added is `asker`. */
function unnamed<P extends Params>(params: P): P & { asker?: string } {
  const [, asker, message] = /^\[(\w+)\] (.*)$/s.exec(String(params["message"])) ?? [];
  return asker === undefined ? params : { ...params, message, asker };
}

const info = { name: "test", version: "1" };

export function connectAsked(era: ClientEra, where: Where, options: AskedOptions = {}): Promise<AskedClient> {
  return era === "legacy" ? connectV1(where, options) : connectV2(where, options);
}

async function connectV1(where: Where, { capabilities = ABLE, elicit = sayBack }: AskedOptions): Promise<AskedClient> {
  const [asked, completed] = [new Messages(), new Messages()];
  const client = new ClientV1(info, { capabilities });
  if ("elicitation" in capabilities) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params: given }, { signal }) => {
      const params = unnamed(given);
      asked.push({ method: "elicitation/create", params });
      return (await elicit(params, signal)) as { action: "accept" };
    });
    client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => completed.push(params));
  }
  if ("sampling" in capabilities) {
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
      asked.push({ method: "sampling/createMessage", params });
      return SAMPLED;
    });
  }
  if ("roots" in capabilities) {
    client.setRequestHandler(ListRootsRequestSchema, () => {
      asked.push({ method: "roots/list" });
      return ROOTS;
    });
  }
  await client.connect("home" in where ? new StdioV1(launch(where.home)) : new HttpV1(new URL(where.url), auth(where)));
  return {
    asked,
    completed,
    call: async (name, args = {}, { signal, onprogress } = {}) =>
      callResult(
        await client.callTool({ name, arguments: args }, undefined, {
          ...(signal ? { signal } : {}),
          ...(onprogress ? { onprogress } : {}),
        }),
      ),
    getPrompt: async (name) => JSON.stringify(await client.getPrompt({ name })),
    readResource: async (uri) => JSON.stringify(await client.readResource({ uri })),
    close: () => client.close(),
  };
}

async function connectV2(
  where: Where,
  { capabilities = ABLE, elicit = sayBack, rounds }: AskedOptions,
): Promise<AskedClient> {
  const [asked, completed] = [new Messages(), new Messages()];
  const client = new ClientV2(info, {
    capabilities,
    versionNegotiation: { mode: { pin: "2026-07-28" } },
    ...(rounds === undefined ? {} : { inputRequired: { maxRounds: rounds } }),
  });
  if ("elicitation" in capabilities) {
    client.setRequestHandler("elicitation/create", async ({ params: given }, { mcpReq }) => {
      const params = unnamed(given);
      asked.push({ method: "elicitation/create", params });
      return (await elicit(params, mcpReq.signal)) as { action: "accept" };
    });
  }
  if ("sampling" in capabilities) {
    client.setRequestHandler("sampling/createMessage", ({ params }) => {
      asked.push({ method: "sampling/createMessage", params });
      return SAMPLED;
    });
  }
  if ("roots" in capabilities) {
    client.setRequestHandler("roots/list", () => {
      asked.push({ method: "roots/list" });
      return ROOTS;
    });
  }
  await client.connect("home" in where ? new StdioV2(launch(where.home)) : new HttpV2(new URL(where.url), auth(where)));
  return {
    asked,
    completed,
    call: async (name, args = {}, { signal, onprogress } = {}) =>
      callResult(
        await client.callTool(
          { name, arguments: args },
          { ...(signal ? { signal } : {}), ...(onprogress ? { onprogress } : {}) },
        ),
      ),
    getPrompt: async (name) => JSON.stringify(await client.getPrompt({ name })),
    readResource: async (uri) => JSON.stringify(await client.readResource({ uri })),
    close: () => client.close(),
  };
}

function launch(home: Home) {
  return { command: process.execPath, args: [BIN, "stdio"], env: { ...home.env }, stderr: "ignore" as const };
}

function auth({ token }: { token?: string }) {
  return token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

function callResult(result: object): CallResult {
  const { isError = false, content } = result as { isError?: boolean; content: { text: string }[] };
  return { isError, text: content.map(({ text }) => text).join("\n") };
}
