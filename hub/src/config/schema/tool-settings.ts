// The `tools` of a group: a list of patterns, or an object whose keys are the same patterns, with settings of the tools that they match.

import * as z from "zod/mini";
import { HubError } from "../../errors.ts";
import { approvalRule } from "./call-rules.ts";
import * as limits from "./limits.ts";
import * as rule from "./text.ts";

const argumentSettings = z.strictObject({
  /** Not shown to clients, and not sent. */
  hidden: z.optional(z.boolean()),
  /** The hub sends this value. Clients do not see the argument. */
  const: z.optional(z.unknown()),
});

const exposedName = z.string().check(
  z.regex(/^[A-Za-z0-9_-]{1,64}$/, "as must have 1 to 64 letters, digits, _ or -"),
  // Names that the hub makes up for tools without a usable name have it before their hash.
  z.refine((name) => !name.includes("--"), "as must not contain --"),
  z.refine((name) => !RESERVED_NAMES.has(name), "as must not be the name of a tool that searches tools"),
);

/** Names that clients of a searched group call. */
const RESERVED_NAMES: ReadonlySet<string> = new Set([
  "search_tools",
  "describe_tools",
  "call_tool",
  "call_read_only_tool",
]);

const argumentName = rule.text("Argument name", { max: limits.TOOL_NAME_MAX }).check(z.minLength(1));

const toolSettings = z.strictObject({
  /** The name that clients see. */
  as: z.optional(exposedName),
  /** In place of the server's description. */
  description: z.optional(rule.text("Description", { max: limits.TOOL_DESCRIPTION_MAX })),
  /** Whether a person approves its calls, whatever the group says. */
  approve: z.optional(approvalRule),
  arguments: z.optional(
    z
      .record(argumentName, argumentSettings)
      .check(
        z.refine(
          (map) => Object.keys(map).length <= limits.TOOL_ARGUMENTS_MAX,
          `Settings for at most ${limits.TOOL_ARGUMENTS_MAX} arguments are allowed`,
        ),
      ),
  ),
});

const tooMany = `At most ${limits.GROUP_ENTRIES_MAX} patterns are allowed`;

export const groupTools = z.union(
  [
    z.array(rule.toolPattern).check(z.maxLength(limits.GROUP_ENTRIES_MAX, tooMany)),
    z
      .record(rule.toolPattern, toolSettings)
      .check(z.refine((map) => Object.keys(map).length <= limits.GROUP_ENTRIES_MAX, tooMany)),
  ],
  { error: "tools must be a list of patterns, or an object with patterns as keys and settings as values" },
);

export type GroupTools = z.infer<typeof groupTools>;
export type ToolSettings = z.infer<typeof toolSettings>;
/** By pattern, in the order of the file. Only patterns with settings. */
export type ToolSettingsMap = Readonly<Record<string, ToolSettings>>;

/** Settings that one tool of one server can have, but not several. */
const OF_ONE_TOOL = ["as", "description"] as const satisfies readonly (keyof ToolSettings)[];

export function patternsOf(tools: GroupTools): string[] {
  return Array.isArray(tools) ? [...new Set(tools)] : Object.keys(tools);
}

/** The same tools and settings with other spellings of the patterns. */
export function mapPatterns(tools: GroupTools, spell: (pattern: string) => string): GroupTools {
  if (Array.isArray(tools)) return tools.map(spell);
  return Object.fromEntries(Object.entries(tools).map(([pattern, settings]) => [spell(pattern), settings]));
}

/**
 * With other settings of one pattern; undefined: without any. A pattern that is new selects its tool, and `*` all others if no pattern
 * did.
 */
export function withToolSettings(tools: GroupTools, pattern: string, settings: ToolSettings | undefined): GroupTools {
  const before = patternsOf(tools);
  const isNew = settings !== undefined && !before.includes(pattern);
  const needsAll = isNew && before.every((each) => each.startsWith("!"));
  const patterns = [...before, ...(needsAll ? ["*"] : []), ...(isNew ? [pattern] : [])];
  const { [pattern]: _, ...rest } = settingsOf(tools) ?? {};
  return toGroupTools(patterns, settings === undefined ? rest : { ...rest, [pattern]: settings });
}

/** The settings of the patterns that have any. Throws if a pattern cannot have its settings. */
export function settingsOf(tools: GroupTools): ToolSettingsMap | undefined {
  if (Array.isArray(tools)) return undefined;
  const given = Object.entries(tools).filter(([, settings]) => Object.keys(settings).length > 0);
  const names = new Map<string, string>();
  for (const [pattern, settings] of given) {
    const refuse = (key: string, problem: string): never => {
      throw new HubError("InvalidConfig", problem, { field: `tools.${pattern}.${key}` });
    };
    const [first = ""] = Object.keys(settings);
    if (pattern.startsWith("!")) refuse(first, `${JSON.stringify(pattern)} excludes tools, so it has no settings`);
    const single = OF_ONE_TOOL.find((key) => settings[key] !== undefined);
    if (single !== undefined && !isOneTool(pattern)) {
      refuse(
        single,
        `"${single}" is for one tool, and ${JSON.stringify(pattern)} may match several. Write it as "server:tool"`,
      );
    }
    if (settings.as === undefined) continue;
    const other = names.get(settings.as);
    if (other !== undefined) {
      refuse("as", `${JSON.stringify(other)} and ${JSON.stringify(pattern)} have the same name ${settings.as}`);
    }
    names.set(settings.as, pattern);
  }
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** The inverse of `patternsOf` and `settingsOf`. */
export function toGroupTools(patterns: readonly string[], settings: ToolSettingsMap | undefined): GroupTools {
  if (settings === undefined || !patterns.some((pattern) => Object.hasOwn(settings, pattern))) return [...patterns];
  return Object.fromEntries(
    patterns.map((pattern) => [pattern, Object.hasOwn(settings, pattern) ? (settings[pattern] ?? {}) : {}]),
  );
}

function isOneTool(pattern: string): boolean {
  return !pattern.includes("*") && pattern.includes(":");
}
