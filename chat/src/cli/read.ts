// `sources`, `chats`, `messages` and `search`: show what is stored. They run the tools of agents, so the user sees what an agent
// sees.

import { Option, type Command } from "commander";
import { z } from "zod";
import type { App } from "../app.ts";
import type { FilterName } from "../access/message-filters.ts";
import { invalid } from "../errors.ts";
import { SEARCH_MODES } from "../model/store-port.ts";
import { ChatShape, type SourceJson } from "../model/shapes.ts";
import type { SourceState } from "../model/source.ts";
import { readSharedStates } from "../sources/shared-states.ts";
import { LeaderLock } from "../sources/leader-lock.ts";
import type { CHAT_FILTERS } from "../tools/list-chats.ts";
import { NO_USER, type Tool } from "../tools/tool.ts";
import { count } from "../lib/words.ts";
import type { Context, Io } from "./io.ts";
import { table } from "./table.ts";
import { withApp } from "./with-app.ts";

interface ReadOptions {
  readonly json?: boolean;
}

interface PageOptions extends ReadOptions {
  readonly limit: string;
  readonly cursor?: string;
  /** The filters, by the names of their options. */
  readonly [option: string]: unknown;
}

type FilterOptions<Name extends string> = Readonly<Record<Name, () => Option>>;

/** The option of each message filter. A missing filter does not compile. `allow_stale` is always on. */
const MESSAGE_OPTIONS: FilterOptions<Exclude<FilterName, "allow_stale">> = {
  source: () => new Option("--source <id>", "only in this source"),
  chat: () => new Option("--chat <chat>", "only in this chat"),
  since: () => new Option("--since <time>", "start time: 7d, 2025-01-13, yesterday …"),
  before: () => new Option("--before <time>", "end time"),
  sender: () => new Option("--sender <who>", "only from this person"),
  search: () => new Option("--search <text>", "only with all of these words, also as parts of words"),
  mode: () => new Option("--mode <mode>", "match mode").choices(SEARCH_MODES),
  include_system: () => new Option("--include-system", "also messages of the network itself, such as who joined"),
};

/** The option of each chat filter. A missing filter does not compile. */
const CHAT_OPTIONS: FilterOptions<keyof typeof CHAT_FILTERS> = {
  name_pattern: () => new Option("--name <pattern>", "part of the name; * and ? are wildcards"),
  chat_type: () => new Option("--type <type>", "direct, group, channel, self or bot"),
  unread: () => new Option("--unread", "with unread messages, if the source reports them"),
  awaiting_reply: () => new Option("--awaiting-reply", "chats waiting for your reply"),
  active_since: () => new Option("--active-since <time>", "with a message since then: 7d, 2025-01-13 …"),
};

const NO_LIMIT_CHARS = 1_000_000;
const Chats = z.object({ chats: z.array(ChatShape) });

export function sourcesCommand(program: Command, { io }: Context): void {
  program
    .command("sources")
    .alias("status")
    .description("show configured sources and how much is stored")
    .option("--json", "machine-readable output")
    .action(async ({ json }: ReadOptions) => {
      await withApp(io, async (app) => {
        const { toSources } = await import("../tools/list-sources.ts");
        const states = await statesOfServer(app);
        const shown = toSources(app.reader).map((source) => ({
          ...source,
          is_connected: undefined,
          ...stateOf(app, source, states),
        }));
        if (json === true) return printJson(io, { sources: shown });
        const rows = shown.map(({ id, name, kind, status, chat_count: chats, message_count: messages, newest }) => [
          id,
          name,
          kind,
          status,
          count(chats, "chat"),
          count(messages, "message"),
          newest === null ? "" : `newest ${newest}`,
        ]);
        if (rows.length === 0)
          io.stderr.write("No sources yet. Run: plugboard-chat import FILE, or plugboard-chat add\n");
        io.stdout.write(table(rows, widthOf(io)));
        for (const { id, message, how_to_connect: hint } of shown) {
          if (message !== undefined) io.stderr.write(`${id}: ${message}\n  fix:   ${hint}\n`);
        }
      });
    });
}

/** Commands do not connect: the states come from the running chat server; undefined if none runs. */
async function statesOfServer({ home }: App): Promise<ReadonlyMap<string, SourceState> | undefined> {
  const lock = await LeaderLock.open(home.lock);
  try {
    return lock.acquire() ? undefined : readSharedStates(home.states);
  } finally {
    await lock.close();
  }
}

interface ShownState {
  readonly status: string;
  readonly message?: string | undefined;
  readonly how_to_connect?: string | undefined;
}

function stateOf(
  { sources }: App,
  { id, live, kind }: Pick<SourceJson, "id" | "live" | "kind">,
  states: ReadonlyMap<string, SourceState> | undefined,
): ShownState {
  const state = states?.get(id);
  const { fault } = sources.get(id).source;
  if (!live && kind === "import" && fault === undefined) return { status: "imported" };
  if (state !== undefined && "message" in state)
    return { status: state.status, message: state.message, how_to_connect: state.howToConnect };
  if (state !== undefined) return { status: state.status };
  // Based on this shell's environment, which may differ from that of the agent.
  if (fault !== undefined) return { status: "error", message: fault.message, how_to_connect: fault.hint };
  return { status: "not running" };
}

export function chatsCommand(program: Command, { io }: Context): void {
  const command = program.command("chats [source]").description("list chats, most recent first");
  pageOptions(command, CHAT_OPTIONS).action(async (source: string | undefined, options: PageOptions) => {
    const { describeState, listChats } = await import("../tools/list-chats.ts");
    await withApp(io, async (app) => {
      const filter = toFilters(CHAT_OPTIONS, options);
      const { structured } = await runTool(app, listChats, { source, filter, ...toPage(options), allow_stale: true });
      if (options.json === true) return printJson(io, structured);
      const { chats } = Chats.parse(structured);
      const rows = chats.map((chat) => [
        chat.source,
        chat.id,
        chat.name,
        chat.type,
        describeState(chat).join(", "),
        count(chat.message_count, "message"),
        chat.last_message_at ?? "",
      ]);
      io.stdout.write(table(rows, widthOf(io)));
    });
  });
}

export function messagesCommand(program: Command, { io }: Context): void {
  const { source: _source, chat: _chat, ...filters } = MESSAGE_OPTIONS;
  const command = program
    .command("messages [source] [chat]")
    .description("show messages as agents see them, oldest first");
  pageOptions(command, filters).action(
    async (source: string | undefined, chat: string | undefined, options: PageOptions) => {
      const { getMessages } = await import("../tools/get-messages.ts");
      await runAndPrint(io, getMessages, { source, chat, ...toFilters(filters, options), ...toPage(options) }, options);
    },
  );
}

export function searchCommand(program: Command, { io }: Context): void {
  const { search: _search, ...filters } = MESSAGE_OPTIONS;
  const command = program.command("search <words...>").description("search all messages");
  pageOptions(command, filters).action(async (words: readonly string[], options: PageOptions) => {
    const { searchMessages } = await import("../tools/search-messages.ts");
    const args = { query: words.join(" "), ...toFilters(filters, options), ...toPage(options) };
    await runAndPrint(io, searchMessages, args, options);
  });
}

function pageOptions(command: Command, filters: FilterOptions<string>): Command {
  for (const create of Object.values(filters)) command.addOption(create());
  return command
    .option("--limit <n>", "maximum number", "50")
    .option("--cursor <cursor>", "next_cursor of the previous page")
    .option("--json", "machine-readable output");
}

/** The filters as parameters of a tool. */
function toFilters(filters: FilterOptions<string>, options: PageOptions): Record<string, unknown> {
  return Object.fromEntries(Object.entries(filters).map(([name, create]) => [name, options[create().attributeName()]]));
}

function toPage({ limit, cursor }: PageOptions): { readonly limit: number; readonly cursor: string | undefined } {
  if (!/^\d+$/.test(limit)) throw invalid("limit", `Invalid --limit '${limit}': use a whole number`);
  return { limit: Number(limit), cursor };
}

async function runAndPrint(
  io: Io,
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  { json }: ReadOptions,
): Promise<void> {
  await withApp(io, async (app) => {
    const { structured, text } = await runTool(app, tool, { ...args, allow_stale: true, max_chars: NO_LIMIT_CHARS });
    if (json === true) printJson(io, structured);
    else io.stdout.write(`${text}\n`);
  });
}

function runTool(app: App, tool: Tool, args: Readonly<Record<string, unknown>>) {
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
  return tool.run(given, {
    app,
    onProgress: () => undefined,
    askUser: NO_USER,
    signal: new AbortController().signal,
    forPerson: true,
  });
}

function printJson(io: Io, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

function widthOf(io: Io): number | undefined {
  return io.stdout.isTTY === true ? io.stdout.columns : undefined;
}
