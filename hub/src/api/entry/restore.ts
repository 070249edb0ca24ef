// Puts stored values back where an entry that was read, edited and sent again has `***` in their place.

import { isObject, type Json, type JsonObject } from "../../config/plain.ts";
import type { EnvEntry, ServerConfig } from "../../config/types.ts";
import { HubError } from "../../errors.ts";
import { asIs, secretValues, toEntry, toText, toVariable } from "./entry.ts";
import { hideAll, MASK } from "../../config/mask.ts";
import { isJsonObject } from "./object.ts";

/** The same place of an entry, as it is shown and as it is stored. */
interface Place {
  readonly path: string;
  readonly shown: unknown;
  readonly stored: unknown;
}

/** An entry without masks. One that stands for nothing is refused: it must never be saved as if it were the value. */
export function restoreMasked(given: JsonObject, before: ServerConfig | undefined): JsonObject {
  const shown: Readonly<Record<string, unknown>> = before === undefined ? {} : { ...toEntry(before, hideAll) };
  const stored: Readonly<Record<string, unknown>> = before === undefined ? {} : { ...toEntry(before, asIs) };
  const members = Object.entries(given).map(([key, value]): [string, Json] => {
    // Free text; nothing in it is ever hidden.
    if (key === "description") return [key, value];
    const place = { path: key, shown: shown[key], stored: stored[key] };
    if (key === "env_vars" || key === "envVars" || key === "env") {
      return [key, restoreVariables(value, before?.env ?? {})];
    }
    if (key === "url" && typeof value === "string") return [key, restoreUrl(value, place)];
    if (key === "args" && Array.isArray(value)) return [key, restoreArgs(value, place)];
    return [key, restore(value, place)];
  });
  return Object.fromEntries(members);
}

function restore(given: Json, { path, shown, stored }: Place): Json {
  const inside = (key: string | number): Place => ({
    path: `${path}.${key}`,
    shown: memberOf(shown, key),
    stored: memberOf(stored, key),
  });
  if (typeof given === "string") {
    if (!given.includes(MASK)) return given;
    if (given === shown && typeof stored === "string") return stored;
    throw standsForNothing(path);
  }
  if (Array.isArray(given)) return given.map((item, index) => restore(item, inside(index)));
  if (!isJsonObject(given)) return given;
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, restore(value, inside(key))]));
}

/** A map of variables, or a list with their names. */
function restoreVariables(given: Json, before: ServerConfig["env"]): Json {
  const secrets = secretValues(before);
  const variable = (name: string, value: Json): Json =>
    restoreVariable(name, value, Object.hasOwn(before, name) ? before[name] : undefined, secrets);
  if (Array.isArray(given)) {
    return given.map((item) =>
      isJsonObject(item) && typeof item["name"] === "string" ? variable(item["name"], item) : item,
    );
  }
  if (!isJsonObject(given)) return given;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, variable(name, value)]));
}

function restoreVariable(name: string, given: Json, before: EnvEntry | undefined, secrets: ReadonlySet<string>): Json {
  if (typeof given === "string") {
    if (before !== undefined && given === toText(toVariable(name, before, { hide: hideAll, secrets }))) {
      const stored = toVariable(name, before, { hide: asIs, secrets });
      return typeof stored === "string" ? stored : { ...stored };
    }
    if (given.includes(MASK)) throw standsForNothing(`env.${name}`);
    return before === undefined ? given : withMarks(given, before);
  }
  if (!isJsonObject(given) || given["value"] !== MASK) return given;
  // The members that go with the value (another mark, the name in a list) are as they are given.
  const { value: _, ...rest } = given;
  if (before?.secretRef !== undefined) return { ...rest, secretRef: before.secretRef };
  if (before?.value !== undefined) return { ...rest, value: before.value };
  throw standsForNothing(`env.${name}`);
}

/** A new text for a variable that is marked as secret or required changes its value, and leaves the marks. */
function withMarks(given: string, { secretRef, isSecret, required }: EnvEntry): Json {
  // What was a secret of the store is one in the file too.
  const secret = secretRef === undefined ? isSecret : true;
  if (secret === undefined && required === undefined) return given;
  return {
    value: given,
    ...(secret === undefined ? {} : { isSecret: secret }),
    ...(required === undefined ? {} : { required }),
  };
}

/** Also where the rest of the address was edited: each part that is hidden comes from the part of the same name. */
function restoreUrl(given: string, { path, shown, stored }: Place): string {
  if (!given.includes(MASK)) return given;
  const url = typeof stored === "string" ? stored : "";
  if (given === shown) return url;
  const userinfo = /:\/\/([^\s/?#]*)@/.exec(url)?.[1];
  const restored = given
    .replace("://***@", (masked) => (userinfo === undefined ? masked : `://${userinfo}@`))
    .replaceAll(/([?&#;])([\w.%-]+)=\*\*\*/g, (masked, before: string, name: string) => {
      const value = parameterOf(url, name);
      return value === undefined ? masked : `${before}${name}=${value}`;
    });
  if (restored.includes(MASK)) throw standsForNothing(path);
  return restored;
}

function parameterOf(url: string, name: string): string | undefined {
  for (const [, found, value] of url.matchAll(/[?&#;]([\w.%-]+)=([^&#;\s]*)/g)) if (found === name) return value;
  return undefined;
}

/** Arguments may have moved: a hidden one is known by its own name, or by the option before it. */
function restoreArgs(given: readonly Json[], { path, shown, stored }: Place): Json[] {
  const masked: unknown[] = Array.isArray(shown) ? shown : [];
  const values: unknown[] = Array.isArray(stored) ? stored : [];
  return given.map((arg, index) => {
    if (typeof arg !== "string" || !arg.includes(MASK)) return arg;
    const fits = (at: number) => masked[at] === arg && (arg !== MASK || masked[at - 1] === given[index - 1]);
    const at = fits(index) ? index : masked.findIndex((_, candidate) => fits(candidate));
    const value = values[at];
    if (typeof value === "string") return value;
    throw standsForNothing(`${path}.${index}`);
  });
}

function standsForNothing(field: string): HubError {
  return new HubError("InvalidConfig", `${MASK} stands for a stored value, and there is none here`, { field });
}

function memberOf(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
