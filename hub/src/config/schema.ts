// The shapes that a server entry and a group may have in a file, both spellings, with other clients' keys let through.
// What the parts mean together is left to normalize.ts.

import * as z from "zod";
import { HubError } from "../errors.ts";
import * as limits from "./limits.ts";
import { resilienceEntry } from "./resilience.ts";
import * as rule from "./text.ts";

const args = z
  .array(rule.text("Argument", { max: limits.ARG_MAX }))
  .max(limits.ARGS_MAX, `At most ${limits.ARGS_MAX} arguments are allowed`);

const headers = z
  .record(rule.headerName, rule.headerValue)
  .refine((map) => Object.keys(map).length <= limits.HEADERS_MAX, `At most ${limits.HEADERS_MAX} headers are allowed`);

const url = rule.text("The url", { max: limits.URL_MAX, oneLine: true });

const envObject = z.looseObject({
  value: rule.envValue.nullish(),
  secretRef: rule.secretName.nullish(),
  secret_ref: rule.secretName.nullish(),
  isSecret: z.boolean().optional(),
  is_secret: z.boolean().optional(),
  required: z.boolean().optional(),
});

// Numbers and booleans are not text, but what is meant is plain: `"PORT": 3000`.
const envEntry = z.union([rule.envValue, z.number(), z.boolean(), envObject], {
  error: "A variable is text, or an object with value or secretRef",
});

const tooManyVariables = `At most ${limits.ENV_VARS_MAX} environment variables are allowed`;

const envMap = z
  .record(rule.envName, envEntry)
  .refine((map) => Object.keys(map).length <= limits.ENV_VARS_MAX, tooManyVariables);

const envList = z.array(envObject.extend({ name: rule.envName })).max(limits.ENV_VARS_MAX, tooManyVariables);

const packageEntry = z.looseObject({
  type: z.string().optional(),
  packageType: z.string().optional(),
  package_type: z.string().optional(),
  identifier: rule.text("Package identifier", { max: limits.ARG_MAX }).nullish(),
  runtimeHint: z.string().nullish(),
  runtime_hint: z.string().nullish(),
  args: args.optional(),
});

const httpTransport = z.looseObject({ url: url.optional(), headers: headers.optional() });

const transport = z.union(
  [z.string(), httpTransport.extend({ type: z.string().optional(), Http: httpTransport.optional() })],
  { error: 'transport is "stdio", or an object with type and url' },
);

const sourceFields = z.looseObject({
  name: z.string().max(limits.PATH_MAX).optional(),
  version: z.string().max(limits.PATH_MAX).optional(),
  qualifiedName: z.string().max(limits.PATH_MAX).optional(),
  qualified_name: z.string().max(limits.PATH_MAX).optional(),
});

const source = z.union([
  z.string(),
  sourceFields.extend({
    type: z.string().optional(),
    Official: sourceFields.optional(),
    Smithery: sourceFields.optional(),
  }),
]);

const timeoutMs = z
  .number()
  .int()
  .min(1, "A timeout must be at least 1 ms")
  .max(limits.TIMEOUT_MAX_MS, "A timeout must be at most one day");

const isolation = z.enum(["shared", "per-session", "per-principal", "per-call"], {
  error: 'isolation is "shared", "per-session", "per-principal" or "per-call"',
});

const npm = z.enum(["managed", "npx"], { error: 'npm is "managed" or "npx"' });

/** Everything but the name, which may also be the entry's key. */
export const serverEntry = z.looseObject({
  id: rule.name.optional(),
  enabled: z.boolean().optional(),
  disabled: z.boolean().optional(),
  description: rule.text("Description", { max: limits.DESCRIPTION_MAX, oneLine: true }).nullish(),
  command: rule.command.nullish(),
  args: args.nullish(),
  env: envMap.nullish(),
  cwd: rule.text("cwd", { max: limits.PATH_MAX, oneLine: true }).nullish(),
  url: url.nullish(),
  headers: headers.nullish(),
  type: z.string().nullish(),
  package: packageEntry.nullish(),
  transport: transport.nullish(),
  envVars: z.union([envMap, envList]).nullish(),
  env_vars: z.union([envMap, envList]).nullish(),
  hardened: z.boolean().optional(),
  source: source.nullish(),
  timeout: timeoutMs.optional(),
  timeouts: z
    .looseObject({
      startMs: timeoutMs.optional(),
      start_ms: timeoutMs.optional(),
      requestMs: timeoutMs.optional(),
      request_ms: timeoutMs.optional(),
    })
    .optional(),
  /** Whether all callers share one process or connection, or each client's session, or each user, has its own. */
  isolation: isolation.optional(),
  /** npx only: whether its package is installed once and run by the hub itself, or left to npx. */
  npm: npm.optional(),
  resilience: resilienceEntry.optional(),
  groups: z.array(rule.name).max(limits.GROUP_ENTRIES_MAX).optional(),
});

export type ServerEntry = z.infer<typeof serverEntry>;
export type EnvInput = z.infer<typeof envEntry>;
export type PackageEntry = z.infer<typeof packageEntry>;

export const groupEntry = z.looseObject({
  description: rule.text("Description", { max: limits.DESCRIPTION_MAX, oneLine: true }).nullish(),
  servers: z.array(rule.name).max(limits.GROUP_ENTRIES_MAX).optional(),
  tools: z.array(rule.toolPattern).max(limits.GROUP_ENTRIES_MAX).optional(),
});

/** Checks data against a schema; the first thing wrong becomes the error. */
export function parseWith<S extends z.ZodType>(schema: S, data: unknown, field?: string): z.infer<S> {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const { path, message } = describeIssue(result.error.issues[0], field === undefined ? [] : [field]);
  throw new HubError("InvalidConfig", message, path.length === 0 ? {} : { field: path.join(".") });
}

type Issue = z.core.$ZodIssue;
type Problem = { path: readonly string[]; message: string };

/** What is wrong, and where, in the words of the config. */
export function describeIssue(issue: Issue | undefined, parent: readonly string[] = []): Problem {
  if (issue === undefined) return { path: parent, message: "The entry is not valid" };
  const path = [...parent, ...issue.path.map(String)];
  const where = path.length === 0 ? "The entry" : path.join(".");
  if (issue.code === "invalid_key") return { path, message: issue.issues[0]?.message ?? issue.message };
  if (issue.code === "invalid_type")
    return { path, message: `${where} must be ${NOUNS[issue.expected] ?? issue.expected}` };
  if (issue.code === "invalid_union") {
    // The branch of the right type knows what is wrong inside it.
    const branch = issue.errors.find(
      ([first]) => first !== undefined && !(first.code === "invalid_type" && first.path.length === 0),
    );
    if (branch !== undefined) return describeIssue(branch[0], path);
  }
  return { path, message: issue.message === "Invalid input" ? `${where} has the wrong type` : issue.message };
}

const NOUNS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};
