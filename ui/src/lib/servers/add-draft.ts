// What a person decides about a parsed entry before it is added, and the entry that results.

import type { ParsedEntry } from "$api/parse.ts";

export type Origin = "secret" | "plain" | "hub";

export interface VariableDraft {
  readonly name: string;
  readonly required: boolean;
  readonly description: string | undefined;
  readonly origin: Origin;
  readonly value: string;
}

export interface Draft {
  readonly entry: Readonly<Record<string, unknown>>;
  readonly name: string;
  readonly groups: readonly string[];
  readonly variables: readonly VariableDraft[];
  readonly isTaken: boolean;
}

export function draftOf({ name, entry, variables, groups = [], same_as: same }: ParsedEntry): Draft {
  return {
    entry,
    name,
    groups,
    isTaken: same === null,
    variables: variables.map(({ name: variable, required, secret, description, value = "" }) => ({
      name: variable,
      required,
      description,
      origin: secret || (required && value === "") ? "secret" : "plain",
      value,
    })),
  };
}

const ENV = "env.";

/** The field of a variable, as errors of the hub name it. */
export const variableField = (name: string): string => `${ENV}${name}`;
export const isVariableField = (field: string): boolean => field.startsWith(ENV);

/** The name under which a variable's value goes to the secret store. */
export const secretNameOf = (server: string, variable: string): string => `${server}-${variable}`;

/** For a test: with the values themselves, which are not stored. */
export function toTestEntry(draft: Draft): Record<string, unknown> {
  return entryWith(draft, ({ value }) => value);
}

/** For saving: a secret is referred to by its name. */
export function toSavedEntry(draft: Draft): Record<string, unknown> {
  return entryWith(draft, ({ name, value, origin }) =>
    origin === "secret" ? { secretRef: secretNameOf(draft.name, name) } : value,
  );
}

/** What has to be in the secret store before the entry is saved. */
export function secretsOf({ name: server, variables }: Draft): { readonly name: string; readonly value: string }[] {
  return variables
    .filter(({ origin, value }) => origin === "secret" && value !== "")
    .map(({ name, value }) => ({ name: secretNameOf(server, name), value }));
}

/** Required variables without a value. */
export function missingOf({ variables }: Draft): string[] {
  return variables
    .filter(({ required, origin, value }) => required && origin !== "hub" && value === "")
    .map(({ name }) => name);
}

function entryWith(draft: Draft, valueOf: (variable: VariableDraft) => unknown): Record<string, unknown> {
  const { entry, name, groups, variables } = draft;
  const given = variables.filter(({ origin, value }) => origin === "hub" || value !== "");
  const env = {
    ...without(entry["env"], variables),
    ...Object.fromEntries(
      given.map((variable) => [variable.name, variable.origin === "hub" ? `\${${variable.name}}` : valueOf(variable)]),
    ),
  };
  return {
    ...entry,
    name,
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(groups.length > 0 ? { groups } : {}),
  };
}

function without(env: unknown, variables: readonly VariableDraft[]): Record<string, unknown> {
  const names = new Set(variables.map(({ name }) => name));
  return Object.fromEntries(Object.entries(env ?? {}).filter(([name]) => !names.has(name)));
}
