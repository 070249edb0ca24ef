// `plugboard group`: manages groups. Each group of servers and tools is a separate endpoint.

import { Option } from "commander";
import type { GroupInput, GroupView } from "../../api/schemas/group.ts";
import { mapPatterns, patternsOf, settingsOf, toGroupTools } from "../../config/schema/tool-settings.ts";
import { APPROVALS, type ApprovalRule } from "../../config/schema/call-rules.ts";
import type { GroupExposure } from "../../config/schema/types.ts";
import { didYouMean } from "@plugboard/shared/near-names";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import type { Register } from "../command.ts";
import { known, withColon } from "../input/known-group.ts";
import { addToolCommand } from "./group-tool.ts";
import type { Cell } from "../terminal/table.ts";
import { approximate } from "../terminal/tokens.ts";
import { count } from "../terminal/text.ts";
import { duration, parseDuration } from "../terminal/times.ts";

interface GroupOptions extends GlobalOptions {
  readonly servers?: string;
  readonly tools?: string;
  readonly description?: string;
  readonly access?: string;
  readonly exposure?: GroupExposure;
  readonly always?: string;
  readonly approve?: ApprovalRule;
  readonly approvalTimeout?: string;
  readonly maxResultTokens?: string;
}

export const groupCommand: Register = (program, { io }) => {
  const group = program.command("group").description("manage groups: ls, get, add, set, rm");
  const run = async (options: GlobalOptions, use: (access: Access) => Promise<void>) => {
    await withAccess(io, options, use);
  };
  group
    .command("ls")
    .alias("list")
    .description("list all groups")
    .action((options: GlobalOptions) => run(options, ls));
  group
    .command("get")
    .description("show a group and its tools")
    .argument("<name>", "name of the group")
    .action((name: string, options: GlobalOptions) => run(options, (access) => get(access, name)));
  for (const [verb, description, change] of [
    ["add", "add a group", add],
    ["set", "change a group; omitted options stay as they are", set],
  ] as const) {
    group
      .command(verb)
      .description(description)
      .argument("<name>", "name of the group")
      .option("--servers <names>", "its servers, separated by commas")
      .option(
        "--tools <patterns>",
        "tools to expose, separated by commas: tool, server.tool, * as wildcard, ! to exclude (default: all)",
      )
      .option("--description <text>", "description of the group")
      .option(
        "--access <names>",
        "who may use it, separated by commas: user:EMAIL, team:NAME, service:NAME, * for everyone, none for administrators only",
      )
      .addOption(
        new Option(
          "--exposure <mode>",
          "whether clients get all tools, or tools that search them (auto: by their size)",
        ).choices(["auto", "all", "search"]),
      )
      .option("--always <patterns>", "tools to list although the group is searched, separated by commas")
      .addOption(
        new Option("--approve <calls>", "which calls a person approves first (default: never)").choices(APPROVALS),
      )
      .option("--approval-timeout <time>", "how long a call waits for approval, like 90s (default: 5m)")
      .option("--max-result-tokens <n>", "cut larger results; 0 for no limit (default: as the servers' entries say)")
      .action((name: string, options: GroupOptions) => run(options, (access) => change(access, name, options)));
  }
  addToolCommand(group, run);
  group
    .command("rm")
    .alias("remove")
    .description("remove a group; its servers stay")
    .argument("<name>", "name of the group")
    .action((name: string, options: GlobalOptions) => run(options, (access) => rm(access, name)));
};

async function ls({ api, out, hub }: Access): Promise<void> {
  const groups = await api.groups.list();
  if (out.json) return out.data(groups);
  const rows = groups.map(({ name, servers, tool_count, tokens, path, description, error }): Cell[] => [
    name,
    // Tool counts are only known to a running hub.
    hub === undefined ? "-" : String(tool_count),
    hub === undefined ? "-" : approximate(tokens),
    servers.join(" ") || "none",
    hub === undefined ? path : hub.url + path,
    error === null ? (description ?? "") : { text: error.message, paint: out.color.bad },
  ]);
  out.table([["NAME", "TOOLS", "TOKENS", "SERVERS", "ENDPOINT", ""], ...rows], { right: [1, 2] });
}

async function get({ api, out, hub }: Access, name: string): Promise<void> {
  const group = await known(api, name);
  const tools = group.error === null ? await api.groups.tools(name) : [];
  if (out.json) return out.data({ ...group, exposed_tools: tools.map((tool) => tool.name) });
  const label = (text: string): Cell => ({ text: `  ${text}`, paint: out.color.faint });
  out.print(out.color.strong(group.name));
  out.table([
    ...(group.error === null ? [] : [[label("error"), group.error.message]]),
    ...(group.description === null ? [] : [[label("about"), group.description]]),
    [label("endpoint"), hub === undefined ? group.path : hub.url + group.path],
    [label("servers"), group.servers.join(" ") || "none"],
    ...(group.access === null ? [] : [[label("access"), group.access.join(" ") || "administrators only"]]),
    [label("tools"), patternsOf(group.tools).join(" ") || "all"],
    ...(hub === undefined ? [] : [[label("offers"), offered(group)]]),
    ...(hub === undefined
      ? []
      : group.too_many_for.map(({ title, limit }): Cell[] => [
          label(""),
          { text: `${title} supports at most ${limit} tools`, paint: out.color.doubtful },
        ])),
    ...(group.always.length === 0 ? [] : [[label("always"), group.always.join(" ")]]),
    ...(group.approve === null ? [] : [[label("approve"), approvalOf(group)]]),
    ...(group.results === null ? [] : [[label("results"), limitOf(group.results)]]),
    ...tools.map((tool): Cell[] => [label(""), tool.name]),
  ]);
}

function approvalOf({ approve, approval_timeout_ms: timeoutMs }: GroupView): string {
  return timeoutMs === null ? String(approve) : `${String(approve)}, within ${duration(timeoutMs)}`;
}

function limitOf({ max_bytes: bytes, max_tokens: tokens }: NonNullable<GroupView["results"]>): string {
  if (tokens !== undefined) return `at most ${approximate(tokens)} tokens`;
  return bytes === undefined ? "of any size" : `at most ${bytes} bytes`;
}

function offered({ tool_count, tokens, is_searched }: GroupView): string {
  if (tool_count === 0) return "no tools";
  const all = `${count(tool_count, "tool")}, ${approximate(tokens)} tokens`;
  return is_searched ? `${all}; clients get tools that search them` : all;
}

async function add(access: Access, name: string, options: GroupOptions): Promise<void> {
  await save(access, name, toInput(options), "Added");
}

async function set(access: Access, name: string, options: GroupOptions): Promise<void> {
  const { tools: before } = await known(access.api, name);
  // The entry as written in the file: servers that it names need not exist yet.
  const { groups } = (await access.api.config.get()).config;
  const entry = Object.hasOwn(groups, name) ? groups[name] : {};
  const changes = toInput(options);
  // A pattern that stays keeps its settings.
  const tools =
    changes.tools === undefined ? {} : { tools: toGroupTools(patternsOf(changes.tools), settingsOf(before)) };
  await save(access, name, { ...entry, ...changes, ...tools }, "Changed");
}

async function rm({ api, out, where }: Access, name: string): Promise<void> {
  await known(api, name);
  await api.groups.delete(name);
  const file = where("group.json");
  out.changed(`Removed the group ${name} from ${file}`, { removed: name, file });
}

async function save(
  { api, out, hub, where }: Access,
  name: string,
  entry: GroupInput,
  did: "Added" | "Changed",
): Promise<void> {
  const all = await api.servers.list();
  const servers = new Set(all.map(({ config }) => config.name));
  const named = new Set([...servers, ...(entry.servers ?? [])]);
  const spelled = (pattern: string) => withColon(pattern, named);
  const input = {
    ...entry,
    ...(entry.tools === undefined ? {} : { tools: mapPatterns(entry.tools, spelled) }),
    ...(entry.always === undefined ? {} : { always: entry.always.map(spelled) }),
  };
  const group = await (did === "Added" ? api.groups.create(name, input) : api.groups.set(name, input));
  for (const server of entry.servers ?? []) {
    if (!servers.has(server))
      out.warn(`There is no server "${server}" yet. ${didYouMean(server, [...servers], "Servers")}`);
  }
  // A server that is not running may still have the tools.
  const isKnown = all.every(({ config, status }) => !group.servers.includes(config.name) || status === "running");
  if (hub !== undefined && isKnown && group.servers.length > 0 && group.tool_count === 0) {
    out.warn(
      `The group ${name} offers no tool: ${patternsOf(group.tools).join(", ") || "its servers have none"}. See: plugboard tools`,
    );
  }
  const file = where("group.json");
  const configured = group.servers.length - group.unknown_servers.length;
  out.changed(`${did} the group ${name} (${count(configured, "server")}) in ${file}`, { group, file });
}

function toInput({
  servers,
  tools,
  description,
  access,
  exposure,
  always,
  approve,
  approvalTimeout,
  maxResultTokens,
}: GroupOptions): GroupInput {
  return {
    ...(servers === undefined ? {} : { servers: parseList(servers) }),
    ...(tools === undefined ? {} : { tools: parseList(tools) }),
    ...(description === undefined ? {} : { description }),
    ...(access === undefined ? {} : { access: access === "none" ? [] : parseList(access) }),
    ...(exposure === undefined ? {} : { exposure }),
    ...(always === undefined ? {} : { always: parseList(always) }),
    ...(approve === undefined ? {} : { approve }),
    ...(maxResultTokens === undefined ? {} : { results: limitsOf(maxResultTokens) }),
    ...(approvalTimeout === undefined
      ? {}
      : { approval_timeout_ms: parseDuration(approvalTimeout, "approval-timeout") }),
  };
}

function limitsOf(text: string): NonNullable<GroupInput["results"]> {
  return text === "0" ? {} : { max_tokens: Number(text) };
}

function parseList(text: string): string[] {
  return text.split(",").flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
}
