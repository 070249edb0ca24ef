// 1MCP (1mcp-app/agent): mcp.json, with presets.json beside it.

import * as z from "zod/mini";
import { isObject } from "../../lib/json/json.ts";
import { parseWith } from "../../config/schema/schema.ts";
import {
  compact,
  groupOfAll,
  milliseconds,
  notesOn,
  texts,
  values,
  type Advice,
  type Product,
  type ProductGroup,
  type ProductServer,
} from "./product.ts";

const serverShape = {
  type: z.nullish(z.enum(["stdio", "http", "sse", "streamableHttp"])),
  transport: z.nullish(z.string()),
  command: z.nullish(z.union([z.string(), texts])),
  args: z.nullish(texts),
  cwd: z.nullish(z.string()),
  env: z.nullish(z.union([values, texts])),
  url: z.nullish(z.string()),
  headers: z.nullish(values),
  disabled: z.nullish(z.union([z.boolean(), z.string()])),
  enabled: z.nullish(z.boolean()),
  disabledTools: z.nullish(texts),
  timeout: z.nullish(milliseconds),
  connectionTimeout: z.nullish(milliseconds),
  requestTimeout: z.nullish(milliseconds),
  tags: z.nullish(texts),
  oauth: z.nullish(
    z.looseObject({
      clientId: z.nullish(z.string()),
      clientSecret: z.nullish(z.string()),
      scopes: z.nullish(texts),
      redirectUrl: z.nullish(z.string()),
    }),
  ),
  inheritParentEnv: z.nullish(z.boolean()),
  envFilter: z.nullish(texts),
  restartDelay: z.nullish(milliseconds),
};

const config = z.looseObject({
  mcpServers: z.record(z.string(), z.looseObject(serverShape)),
  mcpTemplates: z.nullish(z.record(z.string(), z.looseObject({}))),
});
type Server = z.infer<typeof config>["mcpServers"][string];

const presets = z.looseObject({
  presets: z.record(z.string(), z.looseObject({ description: z.nullish(z.string()), tagQuery: z.looseObject({}) })),
});

const ADVICE: Advice = {
  restartOnExit: "the hub always restarts a server that exits; resilience.restart: false does not",
  maxRestarts: "the hub tries again until the server runs, with growing delays",
  stderr: "the hub keeps the output of servers: plugboard logs NAME",
  template: "templates are not imported: see isolation for a process of its own for each client",
};

export const oneMcp: Product = {
  hint: "Give the file: plugboard import --from 1mcp ~/.config/1mcp/mcp.json",
  async read(data, beside) {
    const { mcpServers, mcpTemplates } = parseWith(config, data);
    const servers = Object.entries(mcpServers).map(([name, server]) => toServer(name, server));
    const saved = await beside("presets.json");
    const fromPresets = saved === undefined ? [] : presetsOf(parseWith(presets, saved, "presets.json"), mcpServers);
    const taken = new Set(fromPresets.map(({ name }) => name));
    return {
      servers,
      groups: [
        ...groupOfAll("1mcp", "1MCP", servers),
        ...fromPresets,
        ...tagsOf(mcpServers).filter(({ name }) => !taken.has(name)),
      ],
      notes: Object.keys(mcpTemplates ?? {}).map(
        (name) => `the template ${name} is not imported: add a server for each project, or one with isolation`,
      ),
    };
  },
};

function toServer(name: string, server: Server): ProductServer {
  const { command, args, cwd, env, url, headers, type, enabled, disabled, tags: _tags, timeout, oauth } = server;
  const listed = Array.isArray(env) ? env : [];
  const assigned = listed.filter((each) => each.includes("="));
  const inherited = [...listed.filter((each) => !each.includes("=")), ...inheritedBy(server)];
  const { redirectUrl, autoRegister: _, ...login } = oauth ?? {};
  return {
    name,
    entry: compact({
      command: command ?? undefined,
      args: args ?? undefined,
      cwd,
      env: Array.isArray(env) ? Object.fromEntries(assigned.map(splitAssignment)) : env,
      env_vars: inherited.length > 0 ? inherited : undefined,
      url,
      headers,
      type: url ? typeOf(type ?? server.transport) : undefined,
      enabled,
      disabled: typeof disabled === "string" ? disabled.trim() === "true" : disabled,
      disabled_tools: server.disabledTools ?? undefined,
      startup_timeout_ms: server.connectionTimeout ?? timeout ?? undefined,
      timeout: server.requestTimeout ?? timeout ?? undefined,
      oauth: oauth ? compact({ ...login, redirect_uri: redirectUrl }) : undefined,
    }),
    settings: server.restartDelay ? { resilience: { restart_first_ms: server.restartDelay } } : {},
    notes: [
      ...(server.inheritParentEnv === true && !server.envFilter?.some(isExactName)
        ? ['servers get no variables of the hub: list those that it needs in its "env", as "NAME": "${NAME}"']
        : []),
      ...patternsIn(server).map((pattern) => `the pattern ${pattern} of envFilter is ignored: list variables by name`),
      ...(typeof disabled === "string" && disabled.includes("{{")
        ? ['its condition in "disabled" is ignored: it is enabled here']
        : []),
      ...notesOn(server, serverShape, ADVICE),
    ],
  };
}

const isExactName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
/** Servers have these anyway. */
const ALWAYS = new Set(["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM"]);

function inheritedBy({ inheritParentEnv, envFilter }: Server): string[] {
  if (inheritParentEnv !== true) return [];
  return (envFilter ?? []).filter((name) => isExactName(name) && !ALWAYS.has(name));
}

/** Exclusions say nothing about a server that inherits nothing else. */
function patternsIn({ envFilter }: Server): string[] {
  return (envFilter ?? []).filter((pattern) => !pattern.startsWith("!") && !isExactName(pattern));
}

function splitAssignment(text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  return [text.slice(0, at).trim(), text.slice(at + 1)];
}

function typeOf(type: string | null | undefined): string {
  return type === "sse" ? "sse" : "http";
}

function tagsOf(servers: Readonly<Record<string, Server>>): ProductGroup[] {
  const tags = new Set(Object.values(servers).flatMap(({ tags: own }) => own ?? []));
  return [...tags].map((tag) => ({
    name: tag,
    description: `Servers with the tag ${tag} in 1MCP`,
    members: membersWith(servers, (own) => own.includes(tag)),
  }));
}

type Presets = z.infer<typeof presets>["presets"];

function presetsOf({ presets: all }: { presets: Presets }, servers: Readonly<Record<string, Server>>): ProductGroup[] {
  return Object.entries(all).map(([name, { description, tagQuery }]) => {
    const matches = toMatcher(tagQuery);
    return {
      name,
      description,
      members: matches === undefined ? [] : membersWith(servers, matches),
      notes: [
        matches === undefined
          ? `its query cannot be read: plugboard group add ${name} --servers …`
          : "it has the servers that match now: a tag does not add further ones",
      ],
    };
  });
}

function membersWith(servers: Readonly<Record<string, Server>>, matches: (tags: readonly string[]) => boolean) {
  return Object.entries(servers).flatMap(([server, { tags }]) => (matches(tags ?? []) ? [{ server }] : []));
}

type Matcher = (tags: readonly string[]) => boolean;

/** Undefined for a query of another form. */
function toMatcher(query: unknown): Matcher | undefined {
  if (!isObject(query)) return undefined;
  const { tag, $or: either, $and: all, $not: none, $in: some } = query;
  if (typeof tag === "string") return (tags) => tags.includes(tag);
  if (isObject(tag)) return toMatcher(tag);
  if (Array.isArray(some)) return (tags) => some.some((each) => tags.includes(String(each)));
  if (none !== undefined) {
    const inner = toMatcher(none);
    return inner && ((tags) => !inner(tags));
  }
  const list = Array.isArray(either) ? either : Array.isArray(all) ? all : undefined;
  const parts = list?.map(toMatcher);
  if (parts === undefined || parts.includes(undefined)) return undefined;
  const known = parts.filter((part) => part !== undefined);
  return Array.isArray(either)
    ? (tags) => known.some((part) => part(tags))
    : (tags) => known.every((part) => part(tags));
}
