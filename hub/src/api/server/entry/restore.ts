// Replaces `***` in an entry that was read, edited and sent back by the stored values.

import { canonicalAuth } from "../../../config/parse/auth.ts";
import type { Json, JsonObject } from "../../../config/parse/plain-object.ts";
import { isObject } from "../../../lib/json/json.ts";
import type { EnvEntry, ServerConfig } from "../../../config/schema/types.ts";
import { HubError } from "../../../errors.ts";
import { asIs, secretValues, toEntry, toText, toVariable } from "./entry.ts";
import { hideAll, MASK } from "../../../redaction/mask.ts";
import { NO_SECRETS, type KnownSecrets } from "./known-secrets.ts";
import { isJsonObject } from "./object.ts";

/** A value of an entry, as shown and as stored. */
interface MaskedValue {
  readonly path: string;
  readonly shown: unknown;
  readonly stored: unknown;
}

/**
 * Returns the entry without masks. A mask without a stored value is refused: it must never be saved as the value.
 *
 * @param known the secrets that were hidden when the entry was shown
 */
export function restoreMasked(given: JsonObject, before: ServerConfig | undefined, known = NO_SECRETS): JsonObject {
  const shown: Readonly<Record<string, unknown>> = before === undefined ? {} : { ...toEntry(before, hideAll, known) };
  const stored: Readonly<Record<string, unknown>> = before === undefined ? {} : { ...toEntry(before, asIs) };
  const members = Object.entries(given).map(([key, value]): [string, Json] => {
    // Free text, which is never masked.
    if (key === "description") return [key, value];
    const masked = { path: key, shown: shown[key], stored: stored[key] };
    if (key === "env_vars" || key === "envVars" || key === "env") {
      return [key, restoreVariables(value, before, known)];
    }
    if (key === "auth") return [key, restore(canonicalAuth(value), masked)];
    if (key === "url" && typeof value === "string") return [key, restoreUrl(value, masked)];
    if (key === "args" && Array.isArray(value)) return [key, restoreArgs(value, masked)];
    return [key, restore(value, masked)];
  });
  return Object.fromEntries(members);
}

function restore(given: Json, { path, shown, stored }: MaskedValue): Json {
  const inside = (key: string | number): MaskedValue => ({
    path: `${path}.${key}`,
    shown: memberOf(shown, key),
    stored: memberOf(stored, key),
  });
  if (typeof given === "string") {
    if (!given.includes(MASK)) return given;
    if (given === shown && typeof stored === "string") return stored;
    throw unknownMask(path);
  }
  if (Array.isArray(given)) return given.map((item, index) => restore(item, inside(index)));
  if (!isJsonObject(given)) return given;
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, restore(value, inside(key))]));
}

/** A map of variables, or a list with their names. */
function restoreVariables(given: Json, before: ServerConfig | undefined, known: KnownSecrets): Json {
  const env = before?.env ?? {};
  const secrets = before === undefined ? known : known.with(secretValues(before));
  const variable = (name: string, value: Json): Json =>
    restoreVariable(name, value, Object.hasOwn(env, name) ? env[name] : undefined, secrets);
  if (Array.isArray(given)) {
    return given.map((item) =>
      isJsonObject(item) && typeof item["name"] === "string" ? variable(item["name"], item) : item,
    );
  }
  if (!isJsonObject(given)) return given;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, variable(name, value)]));
}

function restoreVariable(name: string, given: Json, before: EnvEntry | undefined, secrets: KnownSecrets): Json {
  if (typeof given === "string") {
    if (before !== undefined && given === toText(toVariable(name, before, { hide: hideAll, secrets }))) {
      const stored = toVariable(name, before, { hide: asIs, secrets });
      return typeof stored === "string" ? stored : { ...stored };
    }
    if (given.includes(MASK)) throw unknownMask(`env.${name}`);
    return before === undefined ? given : withMarks(given, before);
  }
  if (!isJsonObject(given) || given["value"] !== MASK) return given;
  // Other members (another mark, the name in a list) are taken as given.
  const { value: _, ...rest } = given;
  if (before?.secretRef !== undefined) return { ...rest, secretRef: before.secretRef };
  if (before?.value !== undefined) return { ...rest, value: before.value };
  throw unknownMask(`env.${name}`);
}

/** Text for a variable changes its value, and keeps its marks: secret, required. */
function withMarks(given: string, { secretRef, isSecret, required }: EnvEntry): Json {
  // A value that replaces a reference to a stored secret is a secret too.
  const secret = secretRef === undefined ? isSecret : true;
  if (secret === undefined && required === undefined) return given;
  return {
    value: given,
    ...(secret === undefined ? {} : { isSecret: secret }),
    ...(required === undefined ? {} : { required }),
  };
}

/** The rest of the URL may have been edited: each masked part is restored from the part of the same name. */
function restoreUrl(given: string, { path, shown, stored }: MaskedValue): string {
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
  if (restored.includes(MASK)) throw unknownMask(path);
  return restored;
}

function parameterOf(url: string, name: string): string | undefined {
  for (const [, found, value] of url.matchAll(/[?&#;]([\w.%-]+)=([^&#;\s]*)/g)) if (found === name) return value;
  return undefined;
}

/** Arguments may have moved: a masked one is found by its own name, or by the option before it. */
function restoreArgs(given: readonly Json[], { path, shown, stored }: MaskedValue): Json[] {
  const masked: unknown[] = Array.isArray(shown) ? shown : [];
  const values: unknown[] = Array.isArray(stored) ? stored : [];
  return given.map((arg, index) => {
    if (typeof arg !== "string" || !arg.includes(MASK)) return arg;
    const fits = (at: number) => masked[at] === arg && (arg !== MASK || masked[at - 1] === given[index - 1]);
    const at = fits(index) ? index : masked.findIndex((_, candidate) => fits(candidate));
    const value = values[at];
    if (typeof value === "string") return value;
    throw unknownMask(`${path}.${index}`);
  });
}

function unknownMask(field: string): HubError {
  return new HubError("InvalidConfig", `${MASK} has no stored value here`, { field });
}

function memberOf(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return typeof key === "number" ? value[key] : undefined;
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
