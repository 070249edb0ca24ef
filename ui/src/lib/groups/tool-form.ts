// The settings of one tool in a group while a person edits them, and back.

import { describeField } from "../schema/describe.ts";
import { initialValue } from "../schema/values.ts";
import { NumberText, toPlain, type Json, type JsonObject } from "../text/json.ts";
import { toolSettingsText as text } from "../../text/groups.ts";
import { Rules, toolKey } from "./rules.ts";
import type { ToolSettingsMap } from "./tool-settings.ts";

export type ToolSettings = ToolSettingsMap[string];
type Approval = NonNullable<ToolSettings["approve"]>;
type ArgumentSettings = NonNullable<ToolSettings["arguments"]>[string];
export type ArgumentMode = "shown" | "hidden" | "fixed";

export interface ArgumentForm {
  readonly name: string;
  readonly schema: Json;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /** False: only the settings name it. */
  readonly isKnown: boolean;
  readonly mode: ArgumentMode;
  /** What the hub sends if it is fixed. */
  readonly value: Json | undefined;
}

export interface ToolForm {
  readonly as: string;
  readonly description: string;
  readonly approve: Approval | "group";
  readonly arguments: readonly ArgumentForm[];
}

export function toForm(settings: ToolSettings, schema: JsonObject): ToolForm {
  const field = describeField(schema, schema);
  const known = field.kind === "object" ? field.properties : [];
  const names = new Set(known.map(({ name }) => name));
  const others = Object.keys(settings.arguments ?? {}).filter((name) => !names.has(name));
  return {
    as: settings.as ?? "",
    description: settings.description ?? "",
    approve: settings.approve ?? "group",
    arguments: [
      ...known.map((property) => ({ ...property, isKnown: true })),
      ...others.map((name) => ({ name, schema: {}, isRequired: false, isKnown: false })),
    ].map((property) => ({
      ...property,
      description: describeField(property.schema, schema).description,
      ...modeOf(settings.arguments?.[property.name]),
    })),
  };
}

function modeOf(argument: ArgumentSettings | undefined) {
  // What a config file says is JSON; the API's type says unknown.
  if (argument !== undefined && Object.hasOwn(argument, "const"))
    return { mode: "fixed", value: argument.const as Json } as const;
  return { mode: argument?.hidden === true ? "hidden" : "shown", value: undefined } as const;
}

/** In another mode. A fixed argument begins with its default. */
export function withMode(argument: ArgumentForm, mode: ArgumentMode, schema: Json): ArgumentForm {
  const value = mode === "fixed" ? (argument.value ?? initialValue(argument.schema, schema)) : argument.value;
  return { ...argument, mode, value };
}

export function approvalOf(value: string): ToolForm["approve"] {
  return value === "never" || value === "destructive" || value === "writes" || value === "always" ? value : "group";
}

/** Undefined: as the server has it. `before`: has what a pattern hides and this tool shows. */
export function fromForm(form: ToolForm, before: ToolSettings): ToolSettings | undefined {
  const args = form.arguments.flatMap(({ name, mode, value }): (readonly [string, ArgumentSettings])[] => {
    if (mode === "fixed") return value === undefined ? [] : [[name, { const: toPlain(value) }]];
    if (mode === "hidden") return [[name, { hidden: true }]];
    return before.arguments?.[name]?.hidden === false ? [[name, { hidden: false }]] : [];
  });
  const settings: ToolSettings = {
    ...(form.as.trim() === "" ? {} : { as: form.as.trim() }),
    ...(form.description.trim() === "" ? {} : { description: form.description }),
    ...(form.approve === "group" ? {} : { approve: form.approve }),
    ...(args.length === 0 ? {} : { arguments: Object.fromEntries(args) }),
  };
  return Object.keys(settings).length === 0 ? undefined : settings;
}

/** The settings of a group with those of one tool replaced, or removed. */
export function withSettings(
  settings: ToolSettingsMap,
  pattern: string,
  next: ToolSettings | undefined,
): ToolSettingsMap {
  const { [pattern]: _, ...rest } = settings;
  return next === undefined ? rest : { ...rest, [pattern]: next };
}

/** Other entries of the group whose settings the tool has, unless its own say otherwise. */
export function patternsFor(settings: ToolSettingsMap, server: string, tool: string): string[] {
  const own = toolKey(server, tool);
  return Object.keys(settings).filter((pattern) => pattern !== own && new Rules([pattern]).admits(server, tool));
}

/** What is wrong before the hub is asked, by field: `arguments.b`. */
export function formProblems({ arguments: args }: ToolForm): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name, mode, value } of args) {
    if (mode !== "fixed") continue;
    if (value === undefined) found.set(`arguments.${name}`, text.missing);
    else if (value instanceof NumberText && Math.abs(Number(value.text)) > Number.MAX_SAFE_INTEGER)
      found.set(`arguments.${name}`, text.inexact);
  }
  return found;
}

interface FieldProblem {
  readonly field: string | undefined;
  readonly message: string;
}

/** The field of the form that a problem of the API is about: "as", "description", "approve" or "arguments.b". */
export function fieldOf({ field }: FieldProblem, pattern: string, { arguments: args }: ToolForm): string | undefined {
  const prefix = `tools.${pattern}.`;
  if (field?.startsWith(prefix) !== true) return undefined;
  const inside = field.slice(prefix.length);
  const fields = ["as", "description", "approve", ...args.map(({ name }) => `arguments.${name}`)];
  return fields.find((each) => inside === each) ?? fields.find((each) => inside.startsWith(`${each}.`));
}
