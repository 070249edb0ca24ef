// `sources`, `chats`, `messages` and `search`: what is stored, for the user's own eyes. They ask the tools that agents ask, so
// that the user sees what an agent sees.

import { Option, type Command } from "commander";
import { z } from "zod";
import { openApp, type App } from "../app.ts";
import { ChatShape } from "../shapes.ts";
import type { Tool } from "../tools/tool.ts";
import type { Context, Io } from "./io.ts";
import { table } from "./table.ts";

interface ReadOptions {
  readonly json?: boolean;
}

interface FilterOptions extends ReadOptions {
  readonly source?: string;
  readonly chat?: string;
  readonly since?: string;
  readonly before?: string;
  readonly sender?: string;
  readonly search?: string;
  readonly limit: string;
  readonly cursor?: string;
  readonly mode?: string;
}

const NO_LIMIT_CHARS = 1_000_000;
const Chats = z.object({ chats: z.array(ChatShape) });

export function sourcesCommand(program: Command, { io }: Context): void {
  program
    .command("sources")
    .alias("status")
    .description("what is configured, and how much of it is stored")
    .option("--json", "machine-readable output")
    .action(async ({ json }: ReadOptions) => {
      await withApp(io, async (app) => {
        const { toSources } = await import("../tools/list-sources.ts");
        const sources = toSources(app.reader);
        // Nothing is connected by a command: what a running server knows of that is not known here.
        const shown = sources.map((source) => ({ ...source, is_connected: undefined, status: undefined }));
        if (json === true) return printJson(io, { sources: shown });
        const rows = shown.map(({ id, name, kind, live, chat_count: chats, message_count: messages, newest }) => [
          id,
          name,
          kind,
          live ? "live" : "imported",
          `${chats} chats`,
          `${messages} messages`,
          newest === null ? "" : `newest ${newest}`,
        ]);
        if (rows.length === 0)
          io.stderr.write("No sources yet. First: plugboard-chat import FILE, or plugboard-chat add\n");
        io.stdout.write(table(rows, widthOf(io)));
      });
    });
}

export function chatsCommand(program: Command, { io }: Context): void {
  program
    .command("chats [source]")
    .description("chats, the most recent first")
    .option("--name <pattern>", "part of the name; * and ? are wildcards")
    .option("--type <type>", "direct, group, channel, self or bot")
    .option("--limit <n>", "how many", "50")
    .option("--json", "machine-readable output")
    .action(
      async (source: string | undefined, options: ReadOptions & { name?: string; type?: string; limit: string }) => {
        const { listChats } = await import("../tools/list-chats.ts");
        await withApp(io, async (app) => {
          const filter = { name_pattern: options.name, chat_type: options.type };
          const { structured } = await ask(app, listChats, {
            source,
            filter,
            limit: Number(options.limit),
            allow_stale: true,
          });
          if (options.json === true) return printJson(io, structured);
          const { chats } = Chats.parse(structured);
          const rows = chats.map((chat) => [
            chat.source,
            chat.id,
            chat.name,
            chat.type,
            chat.participant_count === null ? "" : `${chat.participant_count} people`,
            `${chat.message_count} messages`,
            chat.last_message_at ?? "",
          ]);
          io.stdout.write(table(rows, widthOf(io)));
        });
      },
    );
}

export function messagesCommand(program: Command, { io }: Context): void {
  filters(program.command("messages [source] [chat]").description("messages, oldest first, as agents read them"))
    .option("--search <words>", "only with these words")
    .action(async (source: string | undefined, chat: string | undefined, options: FilterOptions) => {
      const { getMessages } = await import("../tools/get-messages.ts");
      const { since, before, sender, search, limit, cursor } = options;
      await show(
        io,
        getMessages,
        { source, chat, since, before, sender, search, cursor, limit: Number(limit) },
        options,
      );
    });
}

export function searchCommand(program: Command, { io }: Context): void {
  filters(program.command("search <words...>").description("search everything"))
    .option("--source <id>", "only in this source")
    .option("--chat <chat>", "only in this chat")
    .addOption(new Option("--mode <mode>", "how words are meant").choices(["words", "phrase", "prefix", "substring"]))
    .action(async (words: readonly string[], options: FilterOptions) => {
      const { searchMessages } = await import("../tools/search-messages.ts");
      const { source, chat, since, before, sender, mode, limit, cursor } = options;
      await show(
        io,
        searchMessages,
        { query: words.join(" "), source, chat, since, before, sender, mode, cursor, limit: Number(limit) },
        options,
      );
    });
}

function filters(command: Command): Command {
  return command
    .option("--since <time>", "from then on: 7d, 2025-01-13, yesterday …")
    .option("--before <time>", "before then")
    .option("--sender <who>", "only from this person")
    .option("--limit <n>", "how many", "50")
    .option("--cursor <cursor>", "next_cursor of the page before")
    .option("--json", "machine-readable output");
}

async function show(io: Io, tool: Tool, args: Readonly<Record<string, unknown>>, { json }: ReadOptions): Promise<void> {
  await withApp(io, async (app) => {
    const { structured, text } = await ask(app, tool, { ...args, allow_stale: true, max_chars: NO_LIMIT_CHARS });
    if (json === true) printJson(io, structured);
    else io.stdout.write(`${text}\n`);
  });
}

function ask(app: App, tool: Tool, args: Readonly<Record<string, unknown>>) {
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
  return tool.run(given, { app, signal: new AbortController().signal });
}

async function withApp(io: Io, work: (app: App) => Promise<void>): Promise<void> {
  const app = await openApp({ ...io, log: (line) => io.stderr.write(`${line}\n`) });
  try {
    await work(app);
  } finally {
    await app.close();
  }
}

function printJson(io: Io, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

function widthOf(io: Io): number | undefined {
  return io.stdout.isTTY === true ? io.stdout.columns : undefined;
}
