// The config entry that `plugboard add` sends: the target with the options of the command.

import { resolve } from "node:path";
import { declareVariables } from "../../config/parse/allowed-env.ts";
import { plainSecretsInAuth } from "../../config/parse/auth-entry.ts";
import { normalizeServer } from "../../config/parse/normalize.ts";
import type { ServerAuth } from "../../config/schema/auth.ts";
import { HubError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { isCredentialName, isLiteralSecret } from "../../redaction/mask.ts";
import type { Target } from "../../entry-input/target.ts";

/** The options of `plugboard add` that go into the entry. */
export interface EntryOptions {
  readonly env: readonly string[];
  readonly secret: readonly string[];
  readonly header: readonly string[];
  readonly group: readonly string[];
  readonly description?: string;
  readonly cwd?: string;
  readonly disabled?: boolean;
}

/** A `${NAME}` that the user types is declared automatically. In JSON from elsewhere (`isPasted`) the user must declare it. */
export function toEntry(target: Target, options: EntryOptions, { isPasted }: { isPasted: boolean }): JsonObject {
  const entry = withOptions(target, options);
  const ownHeaders = new Set(options.header.map((word) => `headers.${parseHeader(word)[0]}`));
  try {
    return declareVariables(entry, ({ field }) => !isPasted || ownHeaders.has(field));
  } catch {
    return entry; // saving it reports the error
  }
}

function withOptions({ name, entry }: Target, options: EntryOptions): JsonObject {
  const env = { ...(isObject(entry["env"]) ? entry["env"] : {}), ...variables(options) };
  const headers = {
    ...(isObject(entry["headers"]) ? entry["headers"] : {}),
    ...Object.fromEntries(options.header.map(parseHeader)),
  };
  return {
    name,
    ...entry,
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(options.group.length === 0 ? {} : { groups: options.group.flatMap((names) => names.split(",")) }),
    ...(options.description === undefined ? {} : { description: options.description }),
    ...(options.cwd === undefined ? {} : { cwd: absolute(options.cwd) }),
    ...(options.disabled === true ? { enabled: false } : {}),
  };
}

/** Paths are made absolute, since the hub may run in another folder. */
function absolute(folder: string): string {
  return /^(?:~|\$\{)/.test(folder) ? folder : resolve(folder);
}

function variables({ env, secret }: EntryOptions): Record<string, unknown> {
  return Object.fromEntries([
    ...env.map((word) => {
      const [name, value] = parsePair(word);
      return [name, value ?? `\${${name}}`];
    }),
    ...secret.map((word) => {
      const [name, value] = parsePair(word);
      // A secret that the user names is required: an optional one that is missing would be left empty.
      return [name, { secretRef: value ?? name, required: true }];
    }),
  ]);
}

function parsePair(word: string): [name: string, value: string | undefined] {
  const equals = word.indexOf("=");
  return equals < 0 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}

function parseHeader(word: string): [name: string, value: string] {
  const colon = word.indexOf(":");
  if (colon > 0) return [word.slice(0, colon).trim(), word.slice(colon + 1).trim()];
  // The value is not in the message, since it may be the credential itself.
  throw new HubError("InvalidArgument", "Invalid header: use 'Name: value'", {
    field: "header",
    hint: "-H 'Authorization: Bearer ${TOKEN}'",
  });
}

/** Warns about credentials in plain text: anyone who reads the file or the shell history has them. */
export function credentialWarnings(entry: JsonObject, file: string): string[] {
  const inEnv = plainCredentials(entry["env"]).map(
    (name) =>
      `${name} is stored in ${file} as plain text. Safer: plugboard secret set ${name}, then -s ${name} instead`,
  );
  const inHeaders = plainCredentials(entry["headers"]).map(
    (name) =>
      `The header ${name} is stored in ${file} as plain text. Safer: plugboard secret set TOKEN, then -s TOKEN -H '${name}: Bearer \${TOKEN}'`,
  );
  const inAuth = plainSecretsInAuth(authOf(entry)).map(
    (field) =>
      `${field} is stored in ${file} as plain text. Safer: plugboard secret set NAME, then { "secretRef": "NAME" } instead`,
  );
  return [...inEnv, ...inHeaders, ...inAuth];
}

function authOf(entry: JsonObject): ServerAuth | undefined {
  try {
    return normalizeServer(undefined, entry).auth;
  } catch {
    return undefined; // saving it reports the error
  }
}

/** The names of the credentials that are written out. */
function plainCredentials(map: unknown): string[] {
  return Object.entries(isObject(map) ? map : {})
    .filter(([name, value]) => isCredentialName(name) && typeof value === "string" && isLiteralSecret(value))
    .map(([name]) => name);
}
