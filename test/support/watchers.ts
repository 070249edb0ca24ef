// The official SDKs as clients that subscribe to resources, with their updates in order.

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

export interface Watcher {
  /** The URIs of all updates so far. */
  readonly heard: string[];
  /** Resolves to the URIs that the hub accepts. */
  watch(...uris: string[]): Promise<string[]>;
  /** The URI of the n-th update, from 1. */
  nth(count: number): Promise<string | undefined>;
  call(name: string, args?: Record<string, unknown>): Promise<string>;
  unwatch(uri: string): Promise<void>;
  close(): Promise<void>;
}

const INFO = { name: "test", version: "1" };

class Heard {
  readonly all: string[] = [];
  readonly #waiting = new Set<() => void>();

  push(uri: string): void {
    this.all.push(uri);
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  async nth(count: number): Promise<string | undefined> {
    while (this.all.length < count) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    return this.all[count - 1];
  }
}

/** `token`: an access token of the hub. */
export type OpenWatcher = (url: string, token?: string) => Promise<Watcher>;

export async function legacyWatcher(url: string, token?: string): Promise<Watcher> {
  const client = new ClientV1(INFO);
  const heard = new Heard();
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => heard.push(params.uri));
  const transport = new HttpV1(new URL(url), withToken(token));
  await client.connect(transport);
  return {
    heard: heard.all,
    nth: (count) => heard.nth(count),
    watch: async (...uris) => {
      for (const uri of uris) await client.subscribeResource({ uri });
      return uris;
    },
    call: async (name, args = {}) => textOf(await client.callTool({ name, arguments: args })),
    unwatch: async (uri) => void (await client.unsubscribeResource({ uri })),
    close: async () => {
      await transport.terminateSession();
      await client.close();
    },
  };
}

export async function modernWatcher(url: string, token?: string): Promise<Watcher> {
  const client = new ClientV2(INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const heard = new Heard();
  const open = new Map<string, { close(): Promise<void> }>();
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => heard.push(params.uri));
  await client.connect(new HttpV2(new URL(url), withToken(token)));
  return {
    heard: heard.all,
    nth: (count) => heard.nth(count),
    watch: async (...uris) => {
      const stream = await client.listen({ resourceSubscriptions: uris });
      for (const uri of uris) open.set(uri, stream);
      return stream.honoredFilter.resourceSubscriptions ?? [];
    },
    call: async (name, args = {}) => textOf(await client.callTool({ name, arguments: args })),
    unwatch: async (uri) => open.get(uri)?.close(),
    close: async () => {
      for (const stream of open.values()) await stream.close();
      await client.close();
    },
  };
}

function withToken(token: string | undefined) {
  return token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

function textOf(result: unknown): string {
  const { content } = result as { content: { text: string }[] };
  return content.map(({ text }) => text).join("\n");
}
