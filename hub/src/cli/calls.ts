// `plugboard calls`: the call log: who called what, how long it took, how it went and why; with an id, all of one call.

import type { Call } from "../api/schemas/call.ts";
import { HubError } from "../errors.ts";
import type { Palette } from "./color.ts";
import { requireHub, type RunningHub } from "./find-hub.ts";
import { followed } from "./follow.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";
import { safeJson } from "./safe-json.ts";
import { fittingColumns, textOf, type Cell } from "./table.ts";
import { firstLine, printable, widthOf } from "./text.ts";
import { clock, duration, parseDuration, parseSince } from "./times.ts";

interface CallsOptions extends GlobalOptions {
  readonly server?: string;
  readonly tool?: string;
  readonly group?: string;
  readonly client?: string;
  readonly failed?: boolean;
  readonly since?: string;
  readonly slow?: string;
  readonly limit: string;
  readonly follow?: boolean;
}

const COLUMNS = ["ID", "TIME", "SERVER", "TOOL", "GROUP", "CLIENT", "TOOK", "RESULT", "MESSAGE"];
const NUMBERS = [0, 6];
const MESSAGE = COLUMNS.indexOf("MESSAGE");
/** The first to go where a terminal is narrow, so that the message has room. */
const EXPENDABLE = ["GROUP", "CLIENT", "TIME"].map((title) => COLUMNS.indexOf(title));
/** What a message should have. */
const MESSAGE_WIDTH = 30;

export const callsCommand: Register = (program, { io, done }) => {
  program
    .command("calls")
    .description("show the call log, newest last, or all of one call")
    .argument("[id]", "all of this call: arguments, result, error; the ids are the first column of the log")
    .option("--server <name>", "calls of this server")
    .option("--tool <name>", "calls of this tool")
    .option("--group <name>", "calls through this group")
    .option("--client <name>", "calls of this client")
    .option("--failed", "calls that did not end well")
    .option("--since <time>", "10m, 24h, 7d, or a date")
    .option("--slow <duration>", "calls that took longer, like 1s")
    .option("-n, --limit <n>", "how many", "50")
    .option("-f, --follow", "go on with what comes")
    .action(async (id: string | undefined, options: CallsOptions) => {
      if (id === undefined) return done(await calls(io, { query: toQuery(options), options }));
      await showCall(io, parseId(id), options);
      done(0);
    });
};

type Query = Record<string, string | number | boolean>;

export function toQuery({
  server,
  tool,
  group,
  client,
  failed,
  since,
  slow,
  limit,
}: Omit<CallsOptions, "follow">): Query {
  if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > 1000) {
    throw new HubError("InvalidConfig", `"${limit}" is not a number from 1 to 1000`, {
      field: "limit",
      hint: "plugboard calls --limit 100",
    });
  }
  return {
    limit: Number(limit),
    ...(server === undefined ? {} : { server }),
    ...(tool === undefined ? {} : { tool }),
    ...(group === undefined ? {} : { group }),
    ...(client === undefined ? {} : { client }),
    ...(failed === true ? { success: false } : {}),
    ...(since === undefined ? {} : { since: parseSince(since, "since").toISOString() }),
    ...(slow === undefined ? {} : { slower_than_ms: parseDuration(slow, "slow") }),
  };
}

function parseId(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HubError("InvalidConfig", `"${text}" is not the id of a call`, {
    field: "id",
    hint: "It is the first column of plugboard calls. For the calls of a server: plugboard calls --server NAME",
  });
}

async function calls(io: Io, { query, options }: { query: Query; options: CallsOptions }): Promise<number> {
  const hub = await requireHub(io, options);
  const out = new Output(io, options);
  const { items } = await hub.client.calls(query);
  if (out.json && options.follow !== true) {
    out.data(items);
    return 0;
  }
  const shown = items.toReversed();
  const { kept, widths } = layOut(shown, out);
  const right = NUMBERS.map((column) => kept.indexOf(column));
  const print = (rows: readonly Call[], header: boolean) => {
    if (out.json) for (const row of rows) out.line(row);
    else {
      const cells = [...(header ? [COLUMNS] : []), ...rows.map((row) => toRow(row, out.color))];
      out.table(
        cells.map((row) => kept.map((column) => row[column] ?? "")),
        { right, widths },
      );
    }
  };
  if (shown.length === 0 && options.follow !== true) out.print("No calls.");
  else print(shown, true);
  return options.follow === true ? follow(io, hub, { query, last: shown.at(-1)?.id, print }) : 0;
}

interface Following {
  readonly query: Query;
  readonly last: number | undefined;
  readonly print: (rows: readonly Call[], header: boolean) => void;
}

async function follow(io: Io, hub: RunningHub, { query, last: shown, print }: Following): Promise<number> {
  let last = shown ?? (await hub.client.calls({ limit: 1 })).items[0]?.id ?? 0;
  return followed(io, hub, { topics: ["call"] }, async () => {
    const fresh = (await hub.client.calls({ ...query, limit: 1000, after: last })).items.toReversed();
    print(fresh, false);
    last = fresh.at(-1)?.id ?? last;
  });
}

/** Which columns there is room for, and how wide they are: what comes later stands under what is there. */
function layOut(rows: readonly Call[], out: Output): { kept: number[]; widths: number[] } {
  const cells = [COLUMNS, ...rows.map((row) => toRow(row, out.color))];
  // A message may be cut: `plugboard calls ID` has all of it.
  const short = cells.map((row) => row.with(MESSAGE, textOf(row[MESSAGE] ?? "").slice(0, MESSAGE_WIDTH)));
  const kept = fittingColumns(short, { width: out.width, expendable: EXPENDABLE });
  const widths = kept.map((column) =>
    column === MESSAGE ? 0 : Math.max(...cells.map((row) => widthOf(textOf(row[column] ?? "")))),
  );
  return { kept, widths };
}

function toRow(call: Call, color: Palette): Cell[] {
  const { id, timestamp, server_name, tool_name, group_name, client, duration_ms, error } = call;
  return [
    String(id),
    clock(new Date(timestamp)),
    server_name === "" ? "-" : server_name,
    tool_name,
    group_name,
    client ?? "-",
    duration(duration_ms),
    outcomeCell(call, color),
    firstLine(error ?? ""),
  ];
}

function outcomeCell({ outcome }: Call, color: Palette): Cell {
  const paint = outcome === "ok" ? color.good : outcome === "cancelled" ? color.doubtful : color.bad;
  return { text: outcome.replace("_", " "), paint };
}

async function showCall(io: Io, id: number, options: CallsOptions): Promise<void> {
  const { client } = await requireHub(io, options);
  const out = new Output(io, options);
  const call = await client.call(id);
  if (out.json) return out.data(call);
  const label = (text: string): Cell => ({ text: `  ${text}`, paint: out.color.faint });
  const title = call.server_name === "" ? call.tool_name : `${call.server_name}.${call.tool_name}`;
  out.table([[{ text: title, paint: out.color.strong }, outcomeCell(call, out.color), `call ${call.id}`]]);
  const rows: Cell[][] = [
    [label("time"), `${clock(new Date(call.timestamp))}, took ${duration(call.duration_ms)}`],
    [label("by"), `${call.client ?? "unknown"}, through ${call.group_name}`],
  ];
  if (call.workflow_id !== null) rows.push([label("workflow"), call.workflow_id]);
  const reason = call.error === null ? [] : printable(call.error).split("\n");
  const code = call.error_code === null ? "" : `${call.error_code}: `;
  reason.forEach((line, index) => rows.push([label(index === 0 ? "error" : ""), index === 0 ? code + line : line]));
  out.table(rows);
  block(out, "arguments", call.params);
  if (call.result !== null && call.result !== undefined) block(out, "result", call.result);
  if (call.truncated) out.note("note: it was too large to be kept as a whole");
}

function block(out: Output, title: string, value: unknown): void {
  const json = safeJson(JSON.stringify(value ?? null, null, 2));
  out.print(`  ${out.color.faint(title)}\n${json.replaceAll(/^/gm, "    ")}`);
}
