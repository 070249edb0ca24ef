// `plugboard calls`: the call log: who called what, how long it took, how it went.

import type { CallPage } from "../api/schemas/call.ts";
import { HubError } from "../errors.ts";
import { requireHub, type RunningHub } from "./find-hub.ts";
import { followed } from "./follow.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";
import type { Cell } from "./table.ts";
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

type Call = CallPage["items"][number];

const COLUMNS = ["TIME", "SERVER", "TOOL", "GROUP", "CLIENT", "TOOK", "RESULT"];

export const callsCommand: Register = (program, { io, done }) => {
  program
    .command("calls")
    .description("show the call log, newest last")
    .option("--server <name>", "calls of this server")
    .option("--tool <name>", "calls of this tool")
    .option("--group <name>", "calls through this group")
    .option("--client <name>", "calls of this client")
    .option("--failed", "calls that failed")
    .option("--since <time>", "10m, 24h, 7d, or a date")
    .option("--slow <duration>", "calls that took longer, like 1s")
    .option("-n, --limit <n>", "how many", "50")
    .option("-f, --follow", "go on with what comes")
    .action(async (options: CallsOptions) => {
      const query = toQuery(options);
      done(await calls(io, await requireHub(io, options), { query, options }));
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

async function calls(
  io: Io,
  hub: RunningHub,
  { query, options }: { query: Query; options: CallsOptions },
): Promise<number> {
  const out = new Output(io, options);
  const { items } = await hub.client.calls(query);
  if (out.json && options.follow !== true) {
    out.data(items);
    return 0;
  }
  const shown = items.toReversed();
  const print = (rows: readonly Call[], header: boolean) => {
    if (out.json) for (const row of rows) out.line(row);
    else out.table([...(header ? [COLUMNS] : []), ...rows.map((row) => toRow(row, out))], { right: [5], widths });
  };
  const widths = columnWidths(shown, out);
  if (shown.length === 0 && options.follow !== true) out.print("No calls.");
  else print(shown, true);
  if (options.follow !== true) return 0;
  let last = shown.at(-1)?.id ?? (await hub.client.calls({ limit: 1 })).items[0]?.id ?? 0;
  return followed(io, hub, { topics: ["call"] }, async () => {
    const fresh = (await hub.client.calls({ ...query, limit: 1000, after: last })).items.toReversed();
    print(fresh, false);
    last = fresh.at(-1)?.id ?? last;
  });
}

/** So that what comes later stands under what is there. */
function columnWidths(rows: readonly Call[], out: Output): number[] {
  const cells = [COLUMNS, ...rows.map((row) => toRow(row, out))];
  return COLUMNS.map((_, index) => Math.max(...cells.map((row) => textOf(row[index]).length)));
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === "object" ? cell.text : (cell ?? "");
}

function toRow(
  { timestamp, server_name, tool_name, group_name, client, duration_ms, success, error_code }: Call,
  { color }: Output,
): Cell[] {
  const result: Cell = success ? { text: "ok", paint: color.good } : { text: error_code ?? "failed", paint: color.bad };
  return [clock(new Date(timestamp)), server_name, tool_name, group_name, client ?? "-", duration(duration_ms), result];
}
