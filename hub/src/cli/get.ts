// `plugboard get`: everything about one server: how it is run, how it is, why it fails and what to do. Secrets are hidden.

import type { Logs, Server } from "../api/schemas/server.ts";
import { withAccess, type Access } from "./access.ts";
import type { GlobalOptions } from "./io.ts";
import { shownKind } from "./kind.ts";
import { statusCell } from "./ls.ts";
import { isCommand } from "./output.ts";
import type { Register } from "./program.ts";
import { quoted } from "./quoted.ts";
import { table, type Cell } from "./table.ts";
import { count, oneLine, printable } from "./text.ts";
import { clock, span } from "./times.ts";

const STDERR_LINES = 10;

export const getCommand: Register = (program, { io, done }) => {
  program
    .command("get")
    .description("show one server: command, state, error, last lines of its log")
    .argument("<server>")
    .action(async (name: string, options: GlobalOptions) => {
      await withAccess(io, options, (access) => get(access, name));
      done(0);
    });
};

async function get(access: Access, name: string): Promise<void> {
  const { api, out, hub } = access;
  const server = await api.getServer(name);
  if (out.json) return out.data(server);
  const [logs, secrets] = await Promise.all([
    hub?.client.serverLogs(server.config.id, STDERR_LINES),
    Object.keys(server.secret_refs).length === 0 ? [] : api.listSecrets(),
  ]);
  const title: Cell = { text: server.config.name, paint: out.color.strong };
  out.table([[title, statusCell(server.status, out), since(server, hub !== undefined)]]);
  const stored = new Set(secrets.map(({ name: known }) => known));
  const written = logs?.lines ?? [];
  const cause = causeOf(server, written);
  // What the cause quotes is not said twice.
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

/** @example "some-mcp-server 1.2.3, installed 2026-11-15 in ~/.local/share/…" */
function toText({ name, version, source, folder, installed_at }: NonNullable<Server["package"]>): string {
  const how = source === "local" ? `of ${folder}` : `installed ${installed_at?.slice(0, 10) ?? ""} in ${folder}`;
  return `${name} ${version}, ${how}`;
}

/** @example "2 instances, pid 4711 4712" */
function inUse(instances: Server["instances"]): string {
  const pids = instances.flatMap(({ pid }) => (pid === null ? [] : [pid]));
  return `${count(instances.length, "instance")}${pids.length === 0 ? "" : `, pid ${pids.join(" ")}`}`;
}

function errorRow({ code, message, field }: NonNullable<Server["error"]>): Row {
  return ["error", `${code}${field === undefined ? "" : ` ${field}`}: ${message}`];
}

/** The line that says most, which stands first; all of them where they are not in the server's log anyway. */
function causeOf({ error }: Server, written: Logs["lines"]): string[] {
  const [first, ...rest] = (error?.detail ?? "").split("\n").map((line) => line.trim());
  const logged = new Set(written.map(({ text }) => text.trim()));
  return [first ?? "", ...rest.filter((line) => !logged.has(line))].filter((line) => line !== "");
}

/** What has no advice of its own can be tried again when somebody has seen to it. */
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
