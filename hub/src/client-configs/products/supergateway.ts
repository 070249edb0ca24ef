// supergateway (supercorp-ai/supergateway): the file of its option --config. entry-input/gateway-lines.ts turns its command line into
// such a file. It serves each entry at an address of its own, so each becomes a group too.

import * as z from "zod/mini";
import type { JsonObject } from "../../config/parse/plain-object.ts";
import { parseWith } from "../../config/schema/schema.ts";
import { splitWords } from "../../lib/shell-words.ts";
import {
  compact,
  notesOn,
  texts,
  values,
  type Advice,
  type Product,
  type ProductGroup,
  type ProductServer,
} from "./product.ts";

const TYPES = ["stdio", "sse", "http", "streamable-http", "streamableHttp", "streamable_http"] as const;

const sourceShape = {
  command: z.nullish(z.string()),
  args: z.nullish(texts),
  stdio: z.nullish(z.string()),
  url: z.nullish(z.string()),
  type: z.nullish(z.enum(TYPES)),
  transportType: z.nullish(z.enum(TYPES)),
  env: z.nullish(values),
  cwd: z.nullish(z.string()),
  headers: z.nullish(values),
  oauth2Bearer: z.nullish(z.string()),
  tools: z.nullish(texts),
  enabled: z.nullish(z.boolean()),
  disabled: z.nullish(z.boolean()),
};

const source = z.looseObject(sourceShape);
const entryShape = { ...sourceShape, mcpServers: z.nullish(z.record(z.string(), source)) };
const configShape = {
  mcpServers: z.record(z.string(), z.looseObject(entryShape)),
  headers: z.nullish(values),
  oauth2Bearer: z.nullish(z.string()),
  tools: z.nullish(texts),
  $schema: z.nullish(z.string()),
};
const config = z.looseObject(configShape);

type Source = z.infer<typeof source>;
type Config = z.infer<typeof config>;

/** How it listens: the hub has its own address. */
const LISTENING = "the hub serves every group at /groups/NAME/mcp, by all transports";
const CLIENT_ONLY = "it ignores this setting of clients, and so does the hub";

const ADVICE: Advice = {
  ...Object.fromEntries(
    ["outputTransport", "baseUrl", "ssePath", "messagePath", "streamableHttpPath", "path", "stateful"].map((key) => [
      key,
      LISTENING,
    ]),
  ),
  ...Object.fromEntries(
    "autoApprove alwaysAllow timeout trust alwaysLoad disabledTools includeTools excludeTools envFile headersHelper oauth description globalShortcut"
      .split(" ")
      .map((key) => [key, CLIENT_ONLY]),
  ),
  port: "plugboard up --port N",
  host: '"listen" in hub.json',
  logLevel: "plugboard up --log-level LEVEL",
  logFormat: "the log of the hub is JSON",
  exitWithProcess: "plugboard stdio ends with its client",
  healthEndpoint: "GET /livez and /readyz",
  healthCheck: "GET /livez and /readyz, and plugboard doctor",
  cors: '"allowed_origins" in hub.json',
  toolPrefix: "give tools names of their own in a group: plugboard group tool",
  apiKey: 'keys are not taken over: set "auth": { "mcp": "required" } in hub.json, and plugboard token add NAME',
  apiKeyFile: 'keys are not taken over: set "auth": { "mcp": "required" } in hub.json, and plugboard token add NAME',
  sessionTimeout: "sessions of clients end by themselves",
  protocolVersion: "the hub agrees on a revision with each server",
};

export const supergateway: Product = {
  hint: "Give the file of --config or its command line: plugboard import --from supergateway -- supergateway …",
  read(data) {
    const parsed = parseWith(config, data);
    const servers: ProductServer[] = [];
    const groups: ProductGroup[] = [];
    for (const [name, entry] of Object.entries(parsed.mcpServers)) {
      const inner = entry.mcpServers;
      const isOff = entry.enabled === false || entry.disabled === true;
      const members = inner ? Object.entries(inner) : [[name, entry] as const];
      const added = members.map(([member, each]) =>
        toServer(nameFor(member, name, servers), { ...each, ...(isOff ? { enabled: false } : {}) }, parsed),
      );
      servers.push(...added);
      groups.push({
        name,
        description: `What supergateway serves as ${name}`,
        members: added.map(({ name: server }) => ({ server })),
        notes: inner ? notesOn(entry, entryShape, ADVICE) : [],
      });
    }
    return { servers, groups, notes: notesOn(parsed, configShape, ADVICE) };
  },
};

/** Combined servers of two entries may have one name. */
function nameFor(member: string, entry: string, taken: readonly ProductServer[]): string {
  return taken.some(({ name }) => name === member) ? `${entry}-${member}` : member;
}

function toServer(name: string, server: Source, defaults: Config): ProductServer {
  const { command, args, stdio, url, type, transportType, env, cwd, enabled, disabled } = server;
  const headers = server.headers ?? defaults.headers;
  const bearer = server.oauth2Bearer ?? defaults.oauth2Bearer;
  const tools = server.tools ?? defaults.tools;
  const program = stdio ? fromShell(stdio) : { entry: compact({ command, args }), env: {}, notes: [] };
  return {
    name,
    entry: compact({
      ...program.entry,
      cwd,
      env: { ...program.env, ...env },
      url: url ?? undefined,
      headers: url ? { ...headers, ...(bearer ? { Authorization: `Bearer ${bearer}` } : {}) } : undefined,
      type: url ? ((type ?? transportType) === "sse" ? "sse" : "http") : undefined,
      enabled_tools: tools ?? undefined,
      enabled,
      disabled,
    }),
    notes: [
      ...program.notes,
      ...(!url && server.headers ? ['"headers": they are for its own answers, which the hub writes itself'] : []),
      ...notesOn(server, entryShape, ADVICE),
    ],
  };
}

/** What only a shell can do. */
const SHELL = /[|&;<>()$`*?~]/;

/** Variables before the program belong to its environment. */
function fromShell(line: string): { entry: JsonObject; env: Readonly<Record<string, string>>; notes: string[] } {
  if (SHELL.test(line)) {
    const note = 'runs in a shell, as before: variables that it uses must be listed in its "env"';
    return { entry: { command: "sh", args: ["-c", line] }, env: {}, notes: [note] };
  }
  const words = splitWords(line);
  const at = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const [command = "", ...args] = at < 0 ? [] : words.slice(at);
  const env: Record<string, string> = {};
  for (const word of words.slice(0, Math.max(0, at))) env[word.split("=", 1)[0] ?? ""] = word.replace(/^\w+=/, "");
  return { entry: { command, args }, env, notes: [] };
}
