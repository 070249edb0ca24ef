// Puts in the arguments that a group has fixed, and refuses those that it hides.

import { isDeepStrictEqual } from "node:util";
import type { ToolOverride } from "../catalog/tool-settings.ts";
import { HubError } from "../errors.ts";
import { editObject, isObject, valueOf } from "../lib/json/json.ts";
import { rawParams, type RawParams } from "../protocol/rpc/jsonrpc.ts";

/** Undefined if the caller sent none that it may not send. The fixed value itself is allowed. */
export function refusedArgument(override: ToolOverride, params: RawParams | undefined): HubError | undefined {
  const given = params?.value["arguments"];
  if (!isObject(given)) return undefined;
  for (const name of override.hidden) {
    if (!Object.hasOwn(given, name)) continue;
    const isFixed = override.fixed.has(name);
    if (isFixed && isDeepStrictEqual(given[name], override.fixed.get(name))) continue;
    const message = isFixed
      ? `The argument "${name}" is fixed by the group`
      : `The argument "${name}" is hidden by the group`;
    return new HubError("InvalidArgument", message, { field: name, hint: "Call the tool without it" });
  }
  return undefined;
}

/** The params with the fixed arguments. All other bytes stay the caller's. */
export function withFixedArguments(override: ToolOverride, params: RawParams | undefined): RawParams | undefined {
  if (override.fixed.size === 0) return params;
  const values = Object.fromEntries(override.fixed);
  const given = params?.value["arguments"];
  const hasObject = params !== undefined && isObject(given);
  const bytes = hasObject ? (valueOf(params.bytes, params.members.toReversed(), "arguments") ?? EMPTY) : EMPTY;
  const texts = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]));
  return rawParams(
    { ...params?.value, arguments: { ...(hasObject ? given : {}), ...values } },
    editObject(params?.bytes ?? EMPTY, { arguments: editObject(bytes, texts) }, params?.members),
  );
}

const EMPTY = Buffer.from("{}");
