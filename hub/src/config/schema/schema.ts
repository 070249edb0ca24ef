// Schemas of server and group entries in both spellings. Keys of other clients are allowed. normalize.ts checks rules that
// concern several fields.

import type { GroupExposure } from "./types.ts";
import * as z from "zod/mini";
import { HubError } from "../../errors.ts";
import { authEntry } from "./auth.ts";
import * as limits from "./limits.ts";
import { networkEntry } from "./network.ts";
import { resilienceEntry } from "./resilience.ts";
import * as rule from "./text.ts";
import { approvalRule, approvalTimeout, resultLimits } from "./call-rules.ts";
import { groupTools } from "./tool-settings.ts";

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
  // Spelling of the official registry, including its default value.
  isRequired: z.optional(z.boolean()),
  is_required: z.optional(z.boolean()),
  default: z.nullish(rule.envValue),
});

// Numbers and booleans are converted to text, for entries such as `"PORT": 3000`.
const envEntry = z.union([rule.envValue, z.number(), z.boolean(), envObject], {
  error: "A variable must be text, or an object with value or secretRef",
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
        z.regex(/^[A-Za-z_][A-Za-z0-9_]*\*?$/, "allowEnv must list variable names, or prefixes that end with *"),
      ),
  )
  .check(z.maxLength(limits.ENV_VARS_MAX, `At most ${limits.ENV_VARS_MAX} names are allowed in allowEnv`));

const httpTransport = z.looseObject({ url: z.optional(url), headers: z.optional(headers) });

const transport = z.union(
  [z.string(), z.extend(httpTransport, { type: z.optional(z.string()), Http: z.optional(httpTransport) })],
  { error: 'transport must be "stdio", or an object with type and url' },
);

const packageEntry = z.looseObject({
  type: z.optional(z.string()),
  packageType: z.optional(z.string()),
  package_type: z.optional(z.string()),
  // Spelling of `packages[0]` in the official registry.
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
  registry: z.optional(z.string().check(z.maxLength(limits.PATH_MAX))),
  name: z.optional(z.string().check(z.maxLength(limits.PATH_MAX))),
  version: z.optional(z.string().check(z.maxLength(limits.PATH_MAX))),
  qualifiedName: z.optional(z.string().check(z.maxLength(limits.PATH_MAX))),
  qualified_name: z.optional(z.string().check(z.maxLength(limits.PATH_MAX))),
  client: z.optional(z.string().check(z.maxLength(limits.NAME_MAX))),
  scope: z.optional(z.enum(["user", "project"])),
});

export const sourceEntry = z.union([
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
  error: 'isolation must be "auto", "shared", "per-session", "per-principal" or "per-call"',
});

const era = z.enum(["auto", "modern", "legacy"], { error: 'era must be "auto", "modern" or "legacy"' });

const npm = z.enum(["managed", "npx"], { error: 'npm must be "managed" or "npx"' });

const pins = z.enum(["warn", "block", "off"], { error: 'pins must be "warn", "block" or "off"' });

/** All fields except the name, which may also be the key of the entry. */
export const serverEntry = z.looseObject({
  id: z.optional(rule.name),
  enabled: z.optional(z.boolean()),
  disabled: z.optional(z.boolean()),
  description: z.nullish(rule.text("Description", { max: limits.DESCRIPTION_MAX, oneLine: true })),
  command: z.nullish(rule.command),
  args: z.nullish(args),
  env: z.nullish(envMap),
  /** Variables of the hub's environment that ${NAME} may use in command, args, cwd, url and headers. */
  allowEnv: z.nullish(allowEnv),
  allow_env: z.nullish(allowEnv),
  cwd: z.nullish(rule.text("cwd", { max: limits.PATH_MAX, oneLine: true })),
  url: z.nullish(url),
  headers: z.nullish(headers),
  /** How the hub logs in to a remote server. */
  auth: z.nullish(authEntry),
  /** The same, as other clients write it. What the hub does not know in it is ignored. */
  oauth: z.optional(z.unknown()),
  type: z.nullish(z.string()),
  package: z.nullish(packageEntry),
  transport: z.nullish(transport),
  envVars: z.nullish(z.union([envMap, envList])),
  env_vars: z.nullish(z.union([envMap, envList])),
  hardened: z.optional(z.boolean()),
  source: z.nullish(sourceEntry),
  /** Arbitrary JSON, passed to the server in MCP_SERVER_CONFIG. */
  config: z.optional(z.unknown()),
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
  /** Whether callers share one process or connection, or get one per session, user or call. */
  isolation: z.optional(isolation),
  /** Protocol era for servers that support both: that of the client (auto), or a fixed one. */
  era: z.optional(era),
  /** npx only: whether the hub installs and runs the package itself, or npx does. */
  npm: z.optional(npm),
  /** What happens to tools that changed since they were approved. */
  pins: z.optional(pins),
  resilience: z.optional(resilienceEntry),
  results: z.optional(resultLimits),
  ...networkEntry,
  groups: z.optional(z.array(rule.name).check(z.maxLength(limits.GROUP_ENTRIES_MAX))),
});

export type ServerEntry = z.infer<typeof serverEntry>;
export type EnvInput = z.infer<typeof envEntry>;
export type PackageEntry = z.infer<typeof packageEntry>;

const GROUP_EXPOSURES = ["auto", "all", "search"] as const satisfies readonly GroupExposure[];

export const groupEntry = z.looseObject({
  description: z.nullish(rule.text("Description", { max: limits.DESCRIPTION_MAX, oneLine: true })),
  servers: z.optional(z.array(rule.name).check(z.maxLength(limits.GROUP_ENTRIES_MAX))),
  tools: z.optional(groupTools),
  /** Whether requests from servers to clients contain the server's name. */
  name_asker: z.optional(z.boolean()),
  /** Who may use the group. Absent: as auth.default_access in hub.json says. */
  access: z.optional(z.array(rule.accessEntry).check(z.maxLength(limits.GROUP_ENTRIES_MAX))),
  exposure: z.optional(
    z.enum(GROUP_EXPOSURES, { error: `exposure must be ${GROUP_EXPOSURES.map((each) => `"${each}"`).join(" or ")}` }),
  ),
  always: z.optional(z.array(rule.toolPattern).check(z.maxLength(limits.GROUP_ENTRIES_MAX))),
  /** Which calls a person approves before they are forwarded. */
  approve: z.optional(approvalRule),
  /** How long a call waits for that. */
  approval_timeout_ms: z.optional(approvalTimeout),
  /** In place of those of its servers. */
  results: z.optional(resultLimits),
});

export type GroupEntry = z.infer<typeof groupEntry>;

// zod/mini has no error messages without a locale.
z.config(z.locales.en());

/** Parses data by a schema. Throws InvalidConfig for the first issue. */
export function parseWith<S extends z.ZodMiniType>(schema: S, data: unknown, field?: string): z.infer<S> {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const { path, message } = describeIssue(result.error.issues[0], field === undefined ? [] : [field]);
  throw new HubError("InvalidConfig", message, path.length === 0 ? {} : { field: path.join(".") });
}

type Issue = z.core.$ZodIssue;
type Problem = { path: readonly string[]; message: string };

/** Path and message of a zod issue, in the terms of the config. */
export function describeIssue(issue: Issue | undefined, parent: readonly string[] = []): Problem {
  if (issue === undefined) return { path: parent, message: "The entry is not valid" };
  const path = [...parent, ...issue.path.map(String)];
  const where = path.length === 0 ? "The entry" : path.join(".");
  if (issue.code === "invalid_key") return { path, message: issue.issues[0]?.message ?? issue.message };
  if (issue.code === "unrecognized_keys") {
    const unknown = [...path, ...issue.keys.slice(0, 1)];
    return { path: unknown, message: `Unknown field "${unknown.join(".")}"` };
  }
  if (issue.code === "invalid_type")
    return { path, message: `${where} must be ${NOUNS[issue.expected] ?? issue.expected}` };
  if (issue.code === "invalid_union") {
    // Report the issue of the union branch whose type matches.
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
