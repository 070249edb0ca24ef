// The messages of one chat as they are read in pages: older ones, newer ones, and those that arrive.

import { callTool, ChatToolError, toPage, type Message } from "../../lib/chats/answers.ts";
import { withPage } from "../../lib/chats/merge.ts";
import type { McpClient } from "../../lib/mcp/client.ts";

const PAGE = 100;
const AROUND = 40;
/** So many are kept; those far from where the reader is are read again. */
const MAX_KEPT = 5000;
/** Times are written in seconds or milliseconds: a page that begins within the same second overlaps. */
const SECOND_MS = 1000;

export type Edge = "more" | "reading" | "end";

export class Conversation {
  /** Oldest first. */
  messages: readonly Message[] = $state.raw([]);
  older: Edge = $state("reading");
  newer: Edge = $state("end");
  isRead = $state(false);
  /** The message of the link is not there. */
  isTargetMissing = $state(false);
  coverage: string | undefined = $state();
  problem: unknown = $state.raw();
  readonly source: string;
  readonly chat: string;
  readonly #client: McpClient;
  readonly #stop = new AbortController();
  #olderCursor: string | undefined;
  /** Of the page that the cursor continues: it is valid with the same filters only. */
  #olderFilter: { readonly before?: string } = {};
  #isRefreshing = false;
  /** Messages came after the last page was asked for. */
  #hasArrivals = false;

  constructor(client: McpClient, { source, chat }: { readonly source: string; readonly chat: string }) {
    this.#client = client;
    this.source = source;
    this.chat = chat;
  }

  /** The newest messages, or those around one. */
  async open(message: string | undefined): Promise<void> {
    this.isTargetMissing = false;
    await this.#try(async () => {
      if (message === undefined || !(await this.#openAround(message))) await this.#openNewest();
      this.isRead = true;
    });
    if (this.#hasArrivals) await this.refresh();
  }

  readonly readOlder = async (): Promise<void> => {
    const [oldest] = this.messages;
    if (this.older !== "more" || oldest === undefined) return;
    this.older = "reading";
    await this.#try(async () => {
      const from = this.#olderCursor === undefined ? { before: later(oldest.at) } : { cursor: this.#olderCursor };
      const page = await this.#page({ ...this.#olderFilter, ...from });
      if (this.#olderCursor === undefined && "before" in from) this.#olderFilter = from;
      this.#olderCursor = page.cursor;
      this.coverage = page.coverage;
      this.messages = withPage(this.messages, page.messages.toReversed(), "before");
      if (this.messages.length > MAX_KEPT) {
        this.messages = this.messages.slice(0, MAX_KEPT);
        this.newer = "more";
      }
      this.older = page.cursor === undefined ? "end" : "more";
    });
  };

  readonly readNewer = async (): Promise<void> => {
    const newest = this.messages.at(-1);
    if (this.newer !== "more" || newest === undefined) return;
    this.newer = "reading";
    await this.#try(async () => {
      const page = await this.#page({ since: newest.at, order: "asc" });
      const before = this.messages.length;
      this.messages = withPage(this.messages, page.messages, "after");
      this.newer = page.cursor === undefined || this.messages.length === before ? "end" : "more";
      if (this.messages.length > MAX_KEPT) {
        this.messages = this.messages.slice(-MAX_KEPT);
        this.#restartOlder();
      }
    });
  };

  /** What has arrived since, if the newest messages are shown. */
  async refresh(): Promise<void> {
    this.#hasArrivals = true;
    if (!this.isRead || this.newer !== "end" || this.#isRefreshing) return;
    this.#isRefreshing = true;
    try {
      while (this.#hasArrivals) {
        this.#hasArrivals = false;
        // Each page is read after the arrival that it is read for.
        // oxlint-disable-next-line no-await-in-loop
        const page = await this.#page({});
        this.messages = withPage(this.messages, page.messages.toReversed(), "after");
      }
    } catch {
      // The next message tries again; what is shown stays.
    } finally {
      this.#isRefreshing = false;
    }
  }

  close(): void {
    this.#stop.abort();
  }

  async #openNewest(): Promise<void> {
    const page = await this.#page({});
    this.messages = page.messages.toReversed();
    this.coverage = page.coverage;
    this.#olderCursor = page.cursor;
    this.#olderFilter = {};
    this.older = page.cursor === undefined ? "end" : "more";
    this.newer = "end";
  }

  /** Older messages are read from the oldest one that is kept. */
  #restartOlder(): void {
    this.#olderCursor = undefined;
    this.#olderFilter = {};
    this.older = "more";
  }

  async #openAround(id: string): Promise<boolean> {
    try {
      const answer = await callTool(
        this.#client,
        "get_message_context",
        { source: this.source, chat: this.chat, message_id: id, before: AROUND, after: AROUND, allow_stale: true },
        this.#stop.signal,
      );
      this.messages = toPage(answer).messages;
      this.#restartOlder();
      this.newer = "more";
      return true;
    } catch (error) {
      if (!(error instanceof ChatToolError) || error.code !== "MESSAGE_NOT_FOUND") throw error;
      this.isTargetMissing = true;
      return false;
    }
  }

  async #page(args: Readonly<Record<string, string>>) {
    const answer = await callTool(
      this.#client,
      "get_messages",
      { source: this.source, chat: this.chat, limit: PAGE, include_system: true, allow_stale: true, ...args },
      this.#stop.signal,
    );
    return toPage(answer);
  }

  async #try(read: () => Promise<void>): Promise<void> {
    try {
      await read();
      this.problem = undefined;
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.problem = error;
      if (this.older === "reading") this.older = "more";
      if (this.newer === "reading") this.newer = "more";
    }
  }
}

function later(time: string): string {
  return new Date(Date.parse(time) + SECOND_MS).toISOString();
}
