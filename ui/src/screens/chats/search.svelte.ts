// A search in all messages, in pages.

import { callTool, toHits, toPage, type Hit } from "../../lib/chats/answers.ts";
import type { McpClient } from "../../lib/mcp/client.ts";

const PAGE = 20;
/** Messages before and after each hit. */
const CONTEXT = 1;
const MAX_HITS = 500;

export interface SearchQuery {
  readonly query: string;
  readonly mode: string;
  readonly source: string;
  readonly sender: string;
  readonly since: string;
}

export class Search {
  hits: readonly Hit[] = $state.raw([]);
  isReading = $state(false);
  isUnfinished = $state(false);
  problem: unknown = $state.raw();
  #cursor: string | undefined = $state();
  readonly hasMore = $derived(this.#cursor !== undefined && this.hits.length < MAX_HITS);
  readonly #client: McpClient;
  #query: SearchQuery | undefined;
  #stop = new AbortController();

  constructor(client: McpClient) {
    this.#client = client;
  }

  async run(query: SearchQuery): Promise<void> {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#query = query;
    this.#cursor = undefined;
    await this.#read([]);
  }

  readonly more = (): Promise<void> => this.#read(this.hits);

  close(): void {
    this.#stop.abort();
  }

  async #read(known: readonly Hit[]): Promise<void> {
    if (this.#query === undefined) return;
    const { query, mode, source, sender, since } = this.#query;
    const { signal } = this.#stop;
    this.isReading = true;
    try {
      const answer = await callTool(
        this.#client,
        "search_messages",
        {
          query,
          mode: mode === "" ? undefined : mode,
          source: source === "" ? undefined : source,
          sender: sender === "" ? undefined : sender,
          since: since === "" ? undefined : since,
          context: CONTEXT,
          limit: PAGE,
          cursor: this.#cursor,
          allow_stale: true,
        },
        signal,
      );
      if (signal.aborted) return;
      const { cursor, isUnfinished } = toPage(answer);
      this.hits = [...known, ...toHits(answer)];
      this.#cursor = cursor;
      this.isUnfinished = isUnfinished;
      this.problem = undefined;
    } catch (error) {
      if (!signal.aborted) this.problem = error;
    } finally {
      if (!signal.aborted) this.isReading = false;
    }
  }
}
