// The shapes that a server entry and a group may have in a file, both spellings, with other clients' keys let through.
// What the parts mean together is left to normalize.ts.

import * as z from "zod/mini";
import { HubError } from "../errors.ts";
import * as limits from "./limits.ts";
import { networkEntry } from "./network.ts";
import { resilienceEntry } from "./resilience.ts";
import * as rule from "./text.ts";

const args = z
  .array(rule.text("Argument", { max: limits.ARG_MAX }))
  .check(z.maxLength(limits.ARGS_MAX, `At most ${limits.ARGS_MAX} arguments are allowed`));

const headers = z
  .record(rule.headerName, rule.headerValue)
  .check(
    z.refine(
      (map) => Object.keys(map).length <= limits.HEADERS_MAX,
      `At most ${limits.HEADERS_MAX} headers are allowed`,
    ),
  );

const url = rule.text("The url", { max: limits.URL_MAX, oneLine: true });

const envObject = z.looseObject({
  value: z.nullish(rule.envValue),
  secretRef: z.nullish(rule.secretName),
  secret_ref: z.nullish(rule.secretName),
  isSecret: z.optional(z.boolean()),
  is_secret: z.optional(z.boolean()),
  required: z.optional(z.boolean()),
  // The official registry's spelling, and its value for whoever gives none.
  isRequired: z.optional(z.boolean()),
  is_required: z.optional(z.boolean()),
  default: z.nullish(rule.envValue),
});

// Numbers and booleans are not text, but what is meant is plain: `"PORT": 3000`.
const envEntry = z.union([rule.envValue, z.number(), z.boolean(), envObject], {
  error: "A variable is text, or an object with value or secretRef",
});

const tooManyVariables = `At most ${limits.ENV_VARS_MAX} environment variables are allowed`;

const envMap = z
  .record(rule.envName, envEntry)
  .check(z.refine((map) => Object.keys(map).length <= limits.ENV_VARS_MAX, tooManyVariables));

const envList = z
  .array(z.extend(envObject, { name: rule.envName }))
  .check(z.maxLength(limits.ENV_VARS_MAX, tooManyVariables));

const allowEnv = z
  .array(
    z
      .string()
      .check(
        z.maxLength(limits.ENV_NAME_MAX),
        z.regex(/^[A-Za-z_][A-Za-z0-9_]*\*?$/, "allowEnv has names of variables, or the beginning of some and *"),
      ),
  )
  .check(z.maxLength(limits.ENV_VARS_MAX, `At most ${limits.ENV_VARS_MAX} names are allowed in allowEnv`));

const httpTransport = z.looseObject({ url: z.optional(url), headers: z.optional(headers) });

const transport = z.union(
  [z.string(), z.extend(httpTransport, { type: z.optional(z.string()), Http: z.optional(httpTransport) })],
  { error: 'transport is "stdio", or an object with type and url' },
);

const packageEntry = z.looseObject({
  type: z.optional(z.string()),
  packageType: z.optional(z.string()),
  package_type: z.optional(z.string()),
  // As `packages[0]` of the official registry has it.
  registryType: z.optional(z.string()),
  registry_type: z.optional(z.string()),
  version: z.nullish(rule.text("Package version", { max: limits.ARG_MAX })),
  transport: z.nullish(transport),
  environmentVariables: z.nullish(envList),
  environment_variables: z.nullish(envList),
  identifier: z.nullish(rule.text("Package identifier", { max: limits.ARG_MAX })),
  runtimeHint: z.nullish(z.string()),
  runtime_hint: z.nullish(z.string()),
  args: z.optional(args),
});

const sourceFields = z.looseObject({
  name: z.optional(z.string().check(z.maxLength(limits.PATH_MAX))),
  version: z.optional(z.string().check(z.maxLength(limits.PATH_MAX))),
  qualifiedName: z.optional(z.string().check(z.maxLength(limits.PATH_MAX))),
  qualified_name: z.optional(z.string().check(z.maxLength(limits.PATH_MAX))),
});

const source = z.union([
  z.string(),
  z.extend(sourceFields, {
    type: z.optional(z.string()),
    Official: z.optional(sourceFields),
    Smithery: z.optional(sourceFields),
    Manual: z.optional(z.unknown()),
  }),
]);

const timeoutMs = z
  .int()
  .check(
    z.gte(1, "A timeout must be at least 1 ms"),
    z.lte(limits.TIMEOUT_MAX_MS, "A timeout must be at most one day"),
  );

const isolation = z.enum(["auto", "shared", "per-session", "per-principal", "per-call"], {
  error: 'isolation is "auto", "shared", "per-session", "per-principal" or "per-call"',
});

const era = z.enum(["auto", "modern", "legacy"], { error: 'era is "auto", "modern" or "legacy"' });

const npm = z.enum(["managed", "npx"], { error: 'npm is "managed" or "npx"' });

/** Everything but the name, which may also be the entry's key. */
export const serverEntry = z.looseObject({
  id: z.optional(rule.name),
  enabled: z.optional(z.boolean()),
  disabled: z.optional(z.boolean()),
  description: z.nullish(rule.text("Description", { max: limits.DESCRIPTION_MAX, oneLine: true })),
  command: z.nullish(rule.command),
  args: z.nullish(args),
  env: z.nullish(envMap),
  /** Variables of the hub's environment that ${NAME} may take into command, args, cwd, url and headers. */
  allowEnv: z.nullish(allowEnv),
  allow_env: z.nullish(allowEnv),
  cwd: z.nullish(rule.text("cwd", { max: limits.PATH_MAX, oneLine: true })),
  url: z.nullish(url),
  headers: z.nullish(headers),
  type: z.nullish(z.string()),
  package: z.nullish(packageEntry),
  transport: z.nullish(transport),
  envVars: z.nullish(z.union([envMap, envList])),
  env_vars: z.nullish(z.union([envMap, envList])),
  hardened: z.optional(z.boolean()),
  source: z.nullish(source),
  timeout: z.optional(timeoutMs),
  timeouts: z.optional(
    z.looseObject({
      startMs: z.optional(timeoutMs),
      start_ms: z.optional(timeoutMs),
      installMs: z.optional(timeoutMs),
      install_ms: z.optional(timeoutMs),
      requestMs: z.optional(timeoutMs),
      request_ms: z.optional(timeoutMs),
    }),
  ),
  /** Whether all callers share one process or connection, or each client's session, or each user, has its own. */
  isolation: z.optional(isolation),
  /** Which revisions a server that knows both eras is spoken to in: the client's, or always the same. */
  era: z.optional(era),
  /** npx only: whether its package is installed once and run by the hub itself, or left to npx. */
  npm: z.optional(npm),
  resilience: z.optional(resilienceEntry),
  ...networkEntry,
  groups: z.optional(z.array(rule.name).check(z.maxLength(limits.GROUP_ENTRIES_MAX))),
});

export type ServerEntry = z.infer<typeof serverEntry>;
export type EnvInput = z.infer<typeof envEntry>;
export type PackageEntry = z.infer<typeof packageEntry>;

export const groupEntry = z.looseObject({
  description: z.nullish(rule.text("Description", { max: limits.DESCRIPTION_MAX, oneLine: true })),
  servers: z.optional(z.array(rule.name).check(z.maxLength(limits.GROUP_ENTRIES_MAX))),
  tools: z.optional(z.array(rule.toolPattern).check(z.maxLength(limits.GROUP_ENTRIES_MAX))),
  /** Whether questions of servers to clients say which server asks. */
  name_asker: z.optional(z.boolean()),
});

// The small form of zod has no words of its own for what is wrong.
z.config(z.locales.en());

/** Checks data against a schema; the first thing wrong becomes the error. */
export function parseWith<S extends z.ZodMiniType>(schema: S, data: unknown, field?: string): z.infer<S> {
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
