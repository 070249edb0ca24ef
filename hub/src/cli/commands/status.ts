// `plugboard status`: the running hub: addresses, servers, problems.

import type { GroupView } from "../../api/schemas/group.ts";
import type { HubStatus } from "../../api/schemas/status.ts";
import type { Server } from "../../api/schemas/server.ts";
import { requireHub, type RunningHub } from "../hub-access/find-hub.ts";
import { makeUiLink } from "../hub-access/ui-link.ts";
import { followed } from "../hub-access/follow.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { summary } from "./ls.ts";
import { Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { describe, describeWithFix, isBroken, markOf } from "../terminal/progress.ts";
import { table, type Cell } from "../terminal/table.ts";
import { count } from "../terminal/text.ts";
import { clock, span } from "../terminal/times.ts";

interface StatusOptions extends GlobalOptions {
  readonly check?: boolean;
  readonly watch?: boolean;
}

interface Picture {
  readonly hub: RunningHub;
  readonly status: HubStatus;
  readonly servers: readonly Server[];
  readonly groups: readonly GroupView[];
}

const FAILED = 1;
/** Of the column with `servers`. */
const LABEL_WIDTH = 9;

export const statusCommand: Register = (program, { io, done }) => {
  program
    .command("status")
    .description("show the running hub: addresses, servers, problems")
    .option("--check", "exit 1 if something does not work")
    .option("-w, --watch", "redraw at every change")
    .action(async (options: StatusOptions) => {
      const hub = await requireHub(io, options);
      done(options.watch === true ? await watch(io, hub, options) : await showStatus(io, hub, options));
    });
};

export async function showStatus(io: Io, hub: RunningHub, options: StatusOptions): Promise<number> {
  const out = new Output(io, options);
  const [picture, link] = await Promise.all([look(hub), out.json ? undefined : makeUiLink(hub)]);
  if (out.json) out.data(toJson(picture));
  else out.print(draw(picture, out, link));
  return options.check === true && problemsOf(picture).length > 0 ? FAILED : 0;
}

async function look(hub: RunningHub): Promise<Picture> {
  const { client } = hub;
  const [status, servers, groups] = await Promise.all([client.status(), client.servers.list(), client.groups.list()]);
  return { hub, status, servers, groups };
}

/** Problems of the hub itself, and enabled servers that are not running. */
function problemsOf({ status, servers }: Picture): { name: string; problem: string; mark: string }[] {
  const broken = servers.filter((server) => isBroken(server.status));
  return [
    ...broken.map((server) => ({
      name: server.config.name,
      problem: describeWithFix(server),
      mark: markOf(server.status),
    })),
    ...status.degraded.map((problem) => ({ name: "hub", problem, mark: "✖" })),
  ];
}

/** Where clients connect. A hub that this command reaches in another way than its clients knows that itself. */
function clientUrl({ hub, status }: Picture): string {
  return hub.record === undefined ? hub.url : (status.public_url ?? hub.url);
}

function toJson(picture: Picture): unknown {
  const { hub, status, servers, groups } = picture;
  return {
    ...status,
    url: hub.url,
    mcp_url: `${clientUrl(picture)}/mcp`,
    api_url: `${hub.url}/api/v1`,
    config: hub.record?.config ?? null,
    problems: problemsOf(picture).map(({ name, problem }) => ({ name, problem })),
    server_list: servers.map(({ config, kind, status: state, tools, error, since, pid }) => ({
      name: config.name,
      kind,
      status: state,
      tools: tools.length,
      since,
      pid,
      error,
    })),
    group_list: groups.map(({ name, path, tool_count }) => ({ name, url: clientUrl(picture) + path, tool_count })),
  };
}

/** `link`: signs a browser in; undefined: there is no web interface. */
function draw(picture: Picture, out: Output, link: string | undefined): string {
  const { hub, status, servers, groups } = picture;
  const since = new Date(status.started_at);
  const [first, ...others] = groups
    .filter(({ error }) => error === null)
    .toSorted((a, b) => Number(b.name === "default") - Number(a.name === "default"));
  const label = (text: string): Cell => ({ text, paint: out.color.faint });
  const rows: Cell[][] = [
    [
      label("hub"),
      `version ${status.version}, pid ${status.pid}, since ${clock(since)} (${span(Date.now() - since.getTime())})`,
    ],
    [label("MCP"), `${clientUrl(picture)}/mcp  ${first === undefined ? "" : count(first.tool_count, "tool")}`],
    ...others.map((group): Cell[] => ["", `${clientUrl(picture)}${group.path}  ${count(group.tool_count, "tool")}`]),
    [label("API"), `${hub.url}/api/v1`],
  ];
  if (hub.record !== undefined) rows.push([label("config"), out.tilde(hub.record.config)]);
  rows.push([
    label("servers"),
    servers.length === 0 ? "none: plugboard add …" : `${servers.length}: ${summary(servers)}`,
  ]);
  if (status.demo) rows.push(["", "No config yet: serving the built-in demo"]);
  const problems = problemsOf(picture).map(({ name, problem, mark }): Cell[] => [
    { text: `  ${mark} ${name}`, paint: out.color.bad },
    problem,
  ]);
  const starting = servers
    .filter((server) => server.status === "starting")
    .map((server): Cell[] => [{ text: `  … ${server.config.name}`, paint: out.color.doubtful }, describe(server)]);
  const warnings = status.warnings.map((text): Cell[] => [{ text: "  ! warning", paint: out.color.doubtful }, text]);
  const width = out.width;
  // Not in the table: a link that is cut to the width of the terminal does not work.
  const ui = link === undefined ? "" : `${out.color.faint("UI".padEnd(LABEL_WIDTH))}${link}\n`;
  return table(rows, { width }) + ui + table([...problems, ...starting, ...warnings], { width });
}

async function watch(io: Io, hub: RunningHub, options: StatusOptions): Promise<number> {
  const out = new Output(io, options);
  const link = out.json ? undefined : await makeUiLink(hub);
  const show = async () => {
    const picture = await look(hub);
    if (out.json) return out.line(toJson(picture));
    // Redraws the whole screen.
    if (out.terminal) out.print(`\u001b[H\u001b[J${draw(picture, out, link)}`);
    else out.print(`${draw(picture, out, link)}\n`);
  };
  await show();
  return followed(io, hub, { topics: ["server", "catalog", "config", "warning"] }, show);
}
