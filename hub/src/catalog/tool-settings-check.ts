// Settings of tools that do not fit the tools: known as soon as the servers have listed them.

import type { ToolSettings } from "../config/schema/tool-settings.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { checkArguments } from "../search/check-arguments.ts";
import type { Member } from "./member.ts";
import type { Membership } from "./membership.ts";
import { quote } from "./quote.ts";
import { ToolFilter } from "./tool-filter.ts";
import { requiredOf } from "./tool-settings.ts";

export interface Misfit {
  /** In the entry of the group: `tools.git:log.arguments.path`. */
  readonly field: string;
  readonly message: string;
}

/** Of the tools of these servers. Empty if no tool has settings. */
export function misfits({ tools, toolSettings = {} }: Membership, members: readonly Member[]): Misfit[] {
  const entries = Object.entries(toolSettings).filter(([, settings]) => settings.arguments !== undefined);
  if (entries.length === 0) return [];
  const admitting = new ToolFilter(tools);
  const found = entries.flatMap(([pattern, settings]) => {
    const filter = new ToolFilter([pattern]);
    return members.flatMap(({ server, offers }) =>
      offers.tools
        .filter(({ own }) => filter.admits(server, own) && admitting.admits(server, own))
        .flatMap(({ own, definition }) =>
          problemsOf(settings, definition, !pattern.includes("*")).map(({ argument, problem }) => ({
            field: `tools.${pattern}.arguments.${argument}`,
            message: `The settings of ${quote(`${server}:${own}`)}: ${problem}`,
          })),
        ),
    );
  });
  return [...new Map(found.map((misfit) => [misfit.message, misfit])).values()];
}

interface ArgumentProblem {
  readonly argument: string;
  readonly problem: string;
}

/** `isNamed`: the tool is named, so that all of its arguments are meant to exist. */
function problemsOf(settings: ToolSettings, definition: JsonObject, isNamed: boolean): ArgumentProblem[] {
  const { inputSchema } = definition;
  const schema = isObject(inputSchema) ? inputSchema : {};
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = requiredOf(definition);
  return Object.entries(settings.arguments ?? {}).flatMap(([name, argument]) => {
    const isFixed = Object.hasOwn(argument, "const");
    const refused = (problem: string): ArgumentProblem[] => [{ argument: name, problem }];
    if (!Object.hasOwn(properties, name) && isNamed && !isOpen(schema)) {
      const known = Object.keys(properties).join(", ");
      return refused(`it has no argument ${quote(name)}${known === "" ? "" : ` (its arguments: ${known})`}`);
    }
    if (argument.hidden === true && !isFixed && required.has(name)) {
      return refused(`${quote(name)} is required, so it can only be hidden with a value: "const"`);
    }
    const part = { ...schema, required: [], properties: { [name]: properties[name] ?? {} }, ...NO_OTHERS };
    const problem = isFixed ? checkArguments(part, { [name]: argument.const }) : undefined;
    return problem === undefined
      ? []
      : refused(`the value of ${quote(name)} does not fit its schema: ${problem.message}`);
  });
}

/** Combinations concern all arguments together. */
const NO_OTHERS = { allOf: undefined, anyOf: undefined, oneOf: undefined, dependentRequired: undefined } as const;

/** Whether it may have arguments that the schema does not name. */
function isOpen(schema: JsonObject): boolean {
  return !isObject(schema["properties"]) || Object.keys(schema["properties"]).length === 0;
}
