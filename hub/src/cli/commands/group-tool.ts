// `plugboard group tool`: what a group changes of one tool: its name, its description and its arguments.

import { Option, type Command } from "commander";
import { APPROVALS, type ApprovalRule } from "../../config/schema/call-rules.ts";
import {
  mapPatterns,
  settingsOf,
  withToolSettings,
  type GroupTools,
  type ToolSettings,
} from "../../config/schema/tool-settings.ts";
import { parseArguments } from "../input/arguments.ts";
import { known, withColon } from "../input/known-group.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import type { Access } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import type { Cell } from "../terminal/table.ts";

interface ToolOptions extends GlobalOptions {
  readonly as?: string;
  readonly description?: string;
  readonly fix?: readonly string[];
  readonly hide?: readonly string[];
  readonly show?: readonly string[];
  readonly approve?: ApprovalRule;
  readonly reset?: boolean;
}

type Run = (options: GlobalOptions, use: (access: Access) => Promise<void>) => Promise<void>;

export function addToolCommand(group: Command, run: Run): void {
  group
    .command("tool")
    .description("show or change how a group exposes a tool: its name, description and arguments")
    .argument("<group>", "name of the group")
    .argument("<server.tool>", "or a pattern, for arguments of several tools")
    .option("--as <name>", "the name that clients see")
    .option("--description <text>", "in place of the server's description")
    .option("--fix <name=value>", "send this value, which clients do not see (repeatable)", several)
    .option("--hide <name>", "hide an optional argument (repeatable)", several)
    .option("--show <name>", "show an argument again (repeatable)", several)
    .addOption(
      new Option("--approve <calls>", "which of its calls a person approves first, whatever the group says").choices(
        APPROVALS,
      ),
    )
    .option("--reset", "as the server has it, before the other options apply")
    .action((name: string, tool: string, options: ToolOptions) =>
      run(options, (access) => setTool(access, { name, tool, options })),
    );
}

async function setTool(
  access: Access,
  { name, tool, options }: { readonly name: string; readonly tool: string; readonly options: ToolOptions },
): Promise<void> {
  const { api, out, where } = access;
  const group = await known(api, name);
  const all = await api.servers.list();
  const servers = new Set([...all.map(({ config }) => config.name), ...group.servers]);
  const pattern = withColon(tool, servers);
  const before = settingsOf(group.tools)?.[pattern] ?? {};
  const isChange = ["as", "description", "fix", "hide", "show", "approve", "reset"].some((key) => key in options);
  if (!isChange) return show(access, pattern, before);

  const definition = all
    .flatMap(({ config, tools }) => tools.map((each) => ({ ...each, pattern: `${config.name}:${each.name}` })))
    .find((each) => each.pattern === pattern);
  const fixed = parseArguments(options.fix ?? [], definition?.input_schema).value;
  const settings = changed(options.reset === true ? {} : before, fixed, options);
  // The entry as written in the file: servers that it names need not exist yet.
  const { groups } = (await api.config.get()).config;
  const entry = Object.hasOwn(groups, name) ? groups[name] : { servers: group.servers };
  const spelled: GroupTools = mapPatterns(group.tools, (each) => withColon(each, servers));
  const isEmpty = Object.keys(settings).length === 0;
  const saved = await api.groups.set(name, {
    ...entry,
    tools: withToolSettings(spelled, pattern, isEmpty ? undefined : settings),
  });
  const file = where("group.json");
  out.changed(`Changed ${pattern} in the group ${name} in ${file}`, { tool: pattern, settings, group: saved, file });
}

function show({ out }: Access, pattern: string, settings: ToolSettings): void {
  if (out.json) return out.data({ tool: pattern, settings });
  const label = (text: string): Cell => ({ text: `  ${text}`, paint: out.color.faint });
  const rows: Cell[][] = [
    ...(settings.as === undefined ? [] : [[label("as"), settings.as]]),
    ...(settings.description === undefined ? [] : [[label("about"), settings.description]]),
    ...(settings.approve === undefined ? [] : [[label("approve"), settings.approve]]),
    ...Object.entries(settings.arguments ?? {}).map(([name, argument]): Cell[] => [
      label(Object.hasOwn(argument, "const") ? "fixed" : "hidden"),
      Object.hasOwn(argument, "const") ? `${name} = ${JSON.stringify(argument.const)}` : name,
    ]),
  ];
  out.print(out.color.strong(pattern));
  out.table(rows.length === 0 ? [[label("as the server has it"), ""]] : rows);
}

function changed(
  before: ToolSettings,
  fixed: JsonObject,
  { as, description, approve, hide, show: shown }: ToolOptions,
): ToolSettings {
  const args = new Map(Object.entries(before.arguments ?? {}));
  for (const name of hide ?? []) args.set(name, { hidden: true });
  for (const [name, value] of Object.entries(fixed)) args.set(name, { const: value });
  const kept = [...args].filter(([name]) => shown?.includes(name) !== true);
  const { arguments: _, ...rest } = before;
  return {
    ...rest,
    ...(as === undefined ? {} : { as }),
    ...(description === undefined ? {} : { description }),
    ...(approve === undefined ? {} : { approve }),
    ...(kept.length === 0 ? {} : { arguments: Object.fromEntries(kept) }),
  };
}

function several(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
