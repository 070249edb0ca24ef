// `plugboard get`: shows everything about one server: command, state, error, fix and log. Secrets are hidden.

import type { Logs, Server } from "../../api/schemas/server.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import { shownKind } from "../input/kind.ts";
import { statusCell } from "./ls.ts";
import { LOGIN_STATES } from "./auth.ts";
import { isCommand } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import { quoted } from "../../lib/quoted.ts";
import { table, type Cell } from "../terminal/table.ts";
import { count, oneLine, printable } from "../terminal/text.ts";
import { clock, span } from "../terminal/times.ts";

const STDERR_LINES = 10;

export const getCommand: Register = (program, { io }) => {
  program
    .command("get")
    .description("show one server: command, state, error, last lines of its log")
    .argument("<server>", "name or id of the server")
    .action(async (name: string, options: GlobalOptions) => {
      await withAccess(io, options, (access) => get(access, name));
    });
};

async function get(access: Access, name: string): Promise<void> {
  const { api, out, hub } = access;
  const server = await api.servers.get(name);
  if (out.json) return out.data(server);
  const [logs, secrets] = await Promise.all([
    hub?.client.servers.logs(server.config.id, STDERR_LINES, { source: "stderr" }),
    Object.keys(server.secret_refs).length === 0 ? [] : api.secrets.list(),
  ]);
  const title: Cell = { text: server.config.name, paint: out.color.strong };
  out.table([[title, statusCell(server, out), since(server, hub !== undefined)]]);
  const stored = new Set(secrets.map(({ name: known }) => known));
  const written = logs?.lines ?? [];
  const cause = causeOf(server, written);
  // Lines that the error already quotes are not repeated.
  const others = written.filter(({ text }) => !cause.includes(text.trim()));
  const rows = [
    ...described(server, stored),
    ...(server.error === null ? [] : [errorRow(server.error)]),
    ...lines("cause", cause.join("\n")),
    ...lines("stderr", others.map(({ timestamp, text }) => `${clock(new Date(timestamp))} ${text}`).join("\n")),
    ...(server.error === null ? [] : advice(server.config.name, server.error)),
  ];
  out.print(table(rows.map(([label, value]) => [{ text: `  ${label}`, paint: out.color.faint }, value])));
}

type Row = [label: string, value: string];

function since({ since: at, status }: Server, running: boolean): string {
  if (!running) return "no hub is running";
  if (at === null || status === "disabled") return "";
  return `since ${clock(new Date(at))} (${span(Date.now() - Date.parse(at))})`;
}

function described(server: Server, stored: ReadonlySet<string>): Row[] {
  const { config, kind, pid, protocol_version, tools, resources, groups, secret_refs } = server;
  const rows: Row[] = [];
  if (config.description !== undefined) rows.push(["about", config.description]);
  if (config.url !== undefined) rows.push(["url", config.url]);
  else if (config.command !== "") rows.push(["run", [config.command, ...config.args].map(quoted).join(" ")]);
  rows.push(["kind", shownKind(kind, config.command)]);
  if (server.package !== null) rows.push(["package", toText(server.package)]);
  if (config.cwd !== undefined) rows.push(["folder", config.cwd]);
  for (const [name, value] of Object.entries(config.headers ?? {})) rows.push(["header", `${name}: ${value}`]);
  for (const [name, value] of Object.entries(config.env)) {
    const ref = secret_refs[name];
    const missing = ref === undefined || stored.has(ref) ? "" : " (missing)";
    rows.push(["env", `${name} = ${ref === undefined ? value : `secret ${ref}${missing}`}`]);
  }
  if (server.login !== null && server.login.state !== "none") rows.push(["login", loginText(server.login)]);
  if (pid !== null) rows.push(["pid", String(pid)]);
  if (config.isolation !== undefined || server.instances.length > 0) {
    rows.push(["isolation", `${config.isolation ?? "auto"}: ${inUse(server.instances)}`]);
  }
  if (config.era !== undefined) rows.push(["era", config.era]);
  if (protocol_version !== null) rows.push(["speaks", `MCP ${protocol_version}`]);
  if (server.status === "running")
    rows.push(["offers", `${count(tools.length, "tool")}, ${count(resources.length, "resource")}`]);
  for (const warning of server.warnings) rows.push(["warning", warning]);
  rows.push(["groups", groups.length === 0 ? "none" : groups.join(" ")]);
  return rows;
}

/** @example "connected as alice@example.com, for read write, until 14:03:11" */
function loginText({ state, account, scopes = [], expires_at: end }: NonNullable<Server["login"]>): string {
  const parts = [
    `${LOGIN_STATES[state]}${account === undefined ? "" : ` as ${account}`}`,
    ...(scopes.length === 0 ? [] : [`for ${scopes.join(" ")}`]),
    ...(end === undefined ? [] : [`until ${clock(new Date(end))}`]),
  ];
  return parts.join(", ");
}

/** @example "some-mcp-server 1.2.3, installed 2026-11-15 in ~/.local/share/…" */
function toText({ name, version, folder, installed_at }: NonNullable<Server["package"]>): string {
  return `${name} ${version}, installed ${installed_at?.slice(0, 10) ?? ""} in ${folder}`;
}

/** @example "2 instances, pid 4711 4712" */
function inUse(instances: Server["instances"]): string {
  const pids = instances.flatMap(({ pid }) => (pid === null ? [] : [pid]));
  return `${count(instances.length, "instance")}${pids.length === 0 ? "" : `, pid ${pids.join(" ")}`}`;
}

function errorRow({ code, message, field }: NonNullable<Server["error"]>): Row {
  return ["error", `${code}${field === undefined ? "" : ` ${field}`}: ${message}`];
}

/** The most telling line comes first; all lines only if they are not in the server's log. */
function causeOf({ error }: Server, written: Logs["lines"]): string[] {
  const [first, ...rest] = (error?.detail ?? "").split("\n").map((line) => line.trim());
  const logged = new Set(written.map(({ text }) => text.trim()));
  return [first ?? "", ...rest.filter((line) => !logged.has(line))].filter((line) => line !== "");
}

/** The error's hint, or a restart if it has none. */
function advice(name: string, { hint }: NonNullable<Server["error"]>): Row[] {
  if (hint === undefined) return [["then", `plugboard restart ${name}`]];
  return lines(isCommand(hint) ? "fix" : "note", hint);
}

function lines(label: string, text: string): Row[] {
  if (text === "") return [];
  return printable(text)
    .split("\n")
    .map((line, index) => [index === 0 ? label : "", oneLine(line)]);
}
