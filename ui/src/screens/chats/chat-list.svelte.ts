// The sources and chats of one chat server, over a connection that also reports what arrives.

import { callTool, toChats, toSources, type Chat, type Source } from "../../lib/chats/answers.ts";
import { McpConnection } from "../../state/mcp.svelte.ts";

const PAGE = 500;
const MAX_CHATS = 2000;
/** Many messages at once lead to one request. */
const AGAIN_MS = 500;

export interface ChatFilter {
  readonly source: string;
  readonly name: string;
}

export class ChatList {
  sources: readonly Source[] | undefined = $state.raw();
  chats: readonly Chat[] | undefined = $state.raw();
  /** There are more than the page shows. */
  isCut = $state(false);
  problem: unknown = $state.raw();
  readonly connection: McpConnection;
  readonly #arrivals = new Set<() => void>();
  readonly #subscribed = new Set<string>();
  #filter: ChatFilter = { source: "", name: "" };
  #reading: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(server: string) {
    this.connection = new McpConnection({ server });
    this.connection.onNotification((method) => {
      if (method === "notifications/resources/updated") this.#arrived();
      else if (method === "notifications/resources/list_changed") this.#soon();
    });
  }

  /** Called when messages have arrived in any chat. Returns the function that ends it. */
  onArrival(listener: () => void): () => void {
    this.#arrivals.add(listener);
    return () => this.#arrivals.delete(listener);
  }

  filter(filter: ChatFilter): void {
    this.#filter = filter;
    void this.reload();
  }

  readonly reload = async (): Promise<void> => {
    this.#reading?.abort();
    const reading = new AbortController();
    this.#reading = reading;
    try {
      const sources = toSources(await callTool(this.connection.client, "list_sources", {}, reading.signal));
      const { chats, isCut } = await this.#readChats(reading.signal);
      if (reading.signal.aborted) return;
      [this.sources, this.chats, this.isCut] = [sources, chats, isCut];
      this.problem = undefined;
      await this.#follow(sources);
    } catch (error) {
      if (!reading.signal.aborted) this.problem = error;
    }
  };

  close(): void {
    clearTimeout(this.#timer);
    this.#reading?.abort();
    this.connection.close();
  }

  #arrived(): void {
    for (const listener of this.#arrivals) listener();
    this.#soon();
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.reload();
    }, AGAIN_MS);
  }

  async #readChats(signal: AbortSignal): Promise<{ readonly chats: readonly Chat[]; readonly isCut: boolean }> {
    const { source, name } = this.#filter;
    const chats: Chat[] = [];
    let cursor: string | undefined;
    do {
      // Each page names the next one.
      // oxlint-disable-next-line no-await-in-loop
      const answer = await callTool(
        this.connection.client,
        "list_chats",
        {
          source: source === "" ? undefined : source,
          filter: name === "" ? {} : { name_pattern: name },
          limit: PAGE,
          cursor,
          allow_stale: true,
        },
        signal,
      );
      chats.push(...toChats(answer));
      cursor = typeof answer["next_cursor"] === "string" ? answer["next_cursor"] : undefined;
    } while (cursor !== undefined && chats.length < MAX_CHATS);
    return { chats, isCut: cursor !== undefined };
  }

  /** Subscriptions instead of the waiting tool: a call that waits would fill the call log of the hub. */
  async #follow(sources: readonly Source[]): Promise<void> {
    const { client } = this.connection;
    await client.listen();
    for (const { id, isLive } of sources) {
      if (!isLive || this.#subscribed.has(id)) continue;
      this.#subscribed.add(id);
      const uri = `messages://${encodeURIComponent(id)}/*?include_system=true`;
      client.get("resources/subscribe", { uri }).then(
        // Messages may have come between the first reading and now.
        () => this.#arrived(),
        () => this.#subscribed.delete(id),
      );
    }
  }
}
