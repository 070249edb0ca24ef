// `plugboard calls`: shows the call log, or one call in full.

import type { Call, CallsQuery } from "../../api/schemas/call.ts";
import { OUTCOMES, type Outcome } from "../../call-log/outcome.ts";
import { HubError } from "../../errors.ts";
import type { Palette } from "../terminal/color.ts";
import { requireHub, type RunningHub } from "../hub-access/find-hub.ts";
import { followed } from "../hub-access/follow.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { safeJson } from "../../lib/json/safe-json.ts";
import { fittingColumns, textOf, type Cell } from "../terminal/table.ts";
import { widthOf } from "@plugboard/shared/text-width";
import { firstLine, printable } from "../terminal/text.ts";
import { clock, duration, parseDuration, parseSince } from "../terminal/times.ts";

interface CallsOptions extends GlobalOptions {
  readonly limit: string;
  readonly follow?: boolean;
  /** The filters, by their options. */
  readonly [option: string]: unknown;
}

interface FilterOption<T> {
  readonly option: string;
  /** The value of the option; undefined for a switch. */
  readonly takes?: string;
  readonly about: string;
  readonly read: (given: string) => T;
}

type FilterName = Exclude<keyof CallsQuery, "after" | "limit" | "cursor" | "fields">;

const asGiven = (given: string): string => given;

/** The option of each call log filter. A missing filter does not compile. */
const FILTERS: { readonly [K in FilterName]-?: FilterOption<CallsQuery[K]> } = {
  server: { option: "server", takes: "name", about: "calls of this server", read: asGiven },
  tool: { option: "tool", takes: "name", about: "calls of this tool", read: asGiven },
  group: { option: "group", takes: "name", about: "calls through this group", read: asGiven },
  client: { option: "client", takes: "name", about: "calls of this client", read: asGiven },
  session: { option: "session", takes: "id", about: "calls of this session of a client", read: asGiven },
  principal: { option: "who", takes: "name", about: "calls of this user (email address) or program", read: asGiven },
  token: { option: "with-token", takes: "name", about: "calls with this access token", read: asGiven },
  workflow_id: { option: "workflow", takes: "id", about: "calls of this workflow", read: asGiven },
  outcome: {
    option: "outcome",
    takes: "outcome",
    about: OUTCOMES.join(", "),
    read: toOutcome,
  },
  success: { option: "failed", about: "calls that did not succeed", read: () => false },
  since: { option: "since", takes: "time", about: "10m, 24h, 7d, or a date", read: toTime("since") },
  until: { option: "until", takes: "time", about: "calls before this time", read: toTime("until") },
  slower_than_ms: {
    option: "slow",
    takes: "duration",
    about: "calls that took longer, like 1s",
    read: (given) => parseDuration(given, "slow"),
  },
  q: { option: "text", takes: "text", about: "calls with this text in tool, arguments or result", read: asGiven },
};

const COLUMNS = ["ID", "TIME", "SERVER", "TOOL", "GROUP", "CLIENT", "TOOK", "RESULT", "MESSAGE"];
const NUMBERS = [0, 6];
const MESSAGE = COLUMNS.indexOf("MESSAGE");
/** Columns to drop first on a narrow terminal. */
const EXPENDABLE = ["GROUP", "CLIENT", "TIME"].map((title) => COLUMNS.indexOf(title));
/** Width that the message column should have. */
const MESSAGE_WIDTH = 30;

export const callsCommand: Register = (program, { io, done }) => {
  const command = program
    .command("calls")
    .description("show the call log, newest last, or one call in full")
    .argument("[id]", "show this call in full: arguments, result, error");
  for (const { option, takes, about } of Object.values(FILTERS)) {
    command.option(takes === undefined ? `--${option}` : `--${option} <${takes}>`, about);
  }
  command
    .option("-n, --limit <n>", "number of calls to show", "50")
    .option("-f, --follow", "keep showing new calls")
    .action(async (id: string | undefined, options: CallsOptions) => {
      if (id === undefined) return done(await calls(io, { query: toQuery(options), options }));
      await showCall(io, parseId(id), options);
    });
};

function toQuery(options: CallsOptions): CallsQuery {
  const { limit } = options;
  if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > 1000) {
    throw new HubError("InvalidArgument", `Invalid --limit "${limit}": use a number from 1 to 1000`, {
      field: "limit",
      hint: "plugboard calls --limit 100",
    });
  }
  const given = Object.entries(FILTERS).filter(([, { option }]) => options[option] !== undefined);
  const filters = given.map(([name, { option, read }]) => [name, read(String(options[option]))]);
  return { ...Object.fromEntries(filters), limit: Number(limit) };
}

function toTime(field: string): (given: string) => string {
  return (given) => parseSince(given, field).toISOString();
}

function toOutcome(given: string): Outcome {
  const known = OUTCOMES.find((outcome) => outcome === given);
  if (known !== undefined) return known;
  throw new HubError("InvalidArgument", `Invalid --outcome "${given}"`, {
    field: "outcome",
    hint: `Use one of ${OUTCOMES.join(", ")}`,
  });
}

function parseId(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HubError("InvalidArgument", `Invalid call id "${text}"`, {
    field: "id",
    hint: "Ids are in the first column of plugboard calls. To filter by server: plugboard calls --server NAME",
  });
}

async function calls(io: Io, { query, options }: { query: CallsQuery; options: CallsOptions }): Promise<number> {
  const hub = await requireHub(io, options);
  const out = new Output(io, options);
  const { items } = await hub.client.calls.list(query);
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
  readonly query: CallsQuery;
  readonly last: number | undefined;
  readonly print: (rows: readonly Call[], header: boolean) => void;
}

async function follow(io: Io, hub: RunningHub, { query, last: shown, print }: Following): Promise<number> {
  let last = shown ?? (await hub.client.calls.list({ limit: 1 })).items[0]?.id ?? 0;
  return followed(io, hub, { topics: ["call"] }, async () => {
    const newCalls = (await hub.client.calls.list({ ...query, limit: 1000, after: last })).items.toReversed();
    print(newCalls, false);
    last = newCalls.at(-1)?.id ?? last;
  });
}

/** Which columns fit, and their widths, so that rows printed later align with the first ones. */
function layOut(rows: readonly Call[], out: Output): { kept: number[]; widths: number[] } {
  const cells = [COLUMNS, ...rows.map((row) => toRow(row, out.color))];
  // A cut message is shown in full by `plugboard calls ID`.
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
  const call = await client.calls.get(id);
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
  if (call.truncated) out.note("note: cut off, because it was too large for the call log");
}

function block(out: Output, title: string, value: unknown): void {
  const json = safeJson(JSON.stringify(value ?? null, null, 2));
  out.print(`  ${out.color.faint(title)}\n${json.replaceAll(/^/gm, "    ")}`);
}
