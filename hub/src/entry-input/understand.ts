// Turns a described server into an entry of the hub: which variables it needs, and what it is in words.

import { translate, type Translated } from "../client-configs/import/translate.ts";
import { readForeign } from "../client-configs/import/foreign.ts";
import type { PlatformContext } from "../config/files/system-folders.ts";
import { personalName, referencesIn } from "../config/parse/expand.ts";
import { parseDockerRun } from "../config/parse/docker-flags.ts";
import { normalizeServer } from "../config/parse/normalize.ts";
import { toPlainJson, type JsonObject } from "../config/parse/plain-object.ts";
import { findRisks } from "../config/parse/risks.ts";
import type { ServerConfig, Transport } from "../config/schema/types.ts";
import { HubError } from "../errors.ts";
import { isObject } from "../lib/json/json.ts";
import { hideAll, isCredentialName, maskArgs, maskUrl } from "../redaction/mask.ts";
import type { DescribedServer } from "./described-server.ts";
import { isPlaceholder } from "./placeholder.ts";

export interface Variable {
  readonly name: string;
  readonly required: boolean;
  readonly secret: boolean;
  readonly description?: string;
  readonly value?: string;
}

export interface UnderstoodServer {
  readonly name: string;
  readonly entry: JsonObject;
  readonly config: ServerConfig;
  readonly understood: string;
  readonly variables: readonly Variable[];
  readonly warnings: readonly string[];
}

export function understand(described: DescribedServer, name: string, context: PlatformContext): UnderstoodServer {
  if (described.client === undefined) return understandOwn(described, name);
  const { entry: whole, secrets, notes } = translated(described, name, context);
  const descriptions = described.descriptions ?? new Map<string, string>();
  const variables = new Map<string, Variable>();
  const env: JsonObject = {};
  const { source: _, env: given, ...entry } = whole;
  for (const [variable, value] of Object.entries(isObject(given) ? given : {})) {
    const ref = isObject(value) && typeof value["secretRef"] === "string" ? value["secretRef"] : undefined;
    const text = ref === undefined ? value : secrets.get(ref);
    const description = ref === undefined ? undefined : descriptions.get(ref);
    const about = {
      name: variable,
      secret: ref !== undefined || isCredentialName(variable),
      ...(description === undefined ? {} : { description }),
    };
    if (typeof text === "string" && !isPlaceholder(text)) {
      variables.set(variable, { ...about, required: false, value: text });
      env[variable] = text;
    } else variables.set(variable, { ...about, required: true });
  }
  const saved = { ...entry, ...(Object.keys(env).length === 0 ? {} : { env }) };
  for (const variable of namesIn(saved)) {
    if (!variables.has(variable))
      variables.set(variable, { name: variable, required: true, secret: isCredentialName(variable) });
  }
  const config = normalizeServer(name, saved);
  return toUnderstood({ name, entry: saved, config, variables: [...variables.values()], notes });
}

/** An entry in the hub's own spelling stays as it is. */
function understandOwn({ entry }: DescribedServer, name: string): UnderstoodServer {
  const json = toPlainJson(entry);
  if (!isObject(json)) throw new HubError("InvalidArgument", "A server must be an object", { field: "text" });
  const { name: _, ...saved } = json;
  const config = normalizeServer(name, saved);
  const variables = Object.entries(config.env).map(([variable, { value, secretRef, isSecret, required = false }]) => ({
    name: variable,
    secret: isSecret === true || secretRef !== undefined || isCredentialName(variable),
    required: required || (secretRef === undefined && isPlaceholder(value ?? "")),
    ...(value === undefined || isPlaceholder(value) ? {} : { value }),
  }));
  return toUnderstood({ name, entry: saved, config, variables, notes: [] });
}

function toUnderstood({
  notes,
  ...server
}: Omit<UnderstoodServer, "understood" | "warnings"> & { readonly notes: readonly string[] }): UnderstoodServer {
  const risks = findRisks(server.config).map(({ reason }) => `The hub refuses to add it: ${reason}`);
  return { ...server, understood: describe(server.config.transport), warnings: [...notes, ...risks] };
}

function translated({ entry, client }: DescribedServer, name: string, context: PlatformContext): Translated {
  const foreign = client === undefined ? undefined : readForeign(entry, client);
  if (client === undefined || foreign === undefined) {
    throw new HubError("InvalidArgument", `${name} is a part of its client, and no MCP server`, { field: "text" });
  }
  return translate(foreign, { client, name, context, keepSecrets: false, taken: new Set() });
}

/** Variables that the entry refers to, and those that docker passes on by name. */
function namesIn({ url, headers, command, args, auth }: JsonObject): string[] {
  const words = Array.isArray(args) ? args.filter((word) => typeof word === "string") : [];
  const isContainer = typeof command === "string" && /(?:^|[\\/])(?:docker|podman|nerdctl)(?:\.exe)?$/.test(command);
  const passed = (isContainer ? (parseDockerRun(words)?.options ?? []) : []).flatMap(({ name, value }) =>
    name === "env" && value !== undefined && !value.includes("=") ? [value] : [],
  );
  const named = referencesIn(JSON.stringify([url ?? "", headers ?? {}, auth ?? {}, words]));
  return [...passed, ...named.filter((name) => personalName(name) === undefined)];
}

function describe(transport: Transport): string {
  if (transport.type !== "stdio") {
    const how = { http: "Streamable HTTP", sse: "HTTP+SSE", websocket: "WebSocket" }[transport.type];
    return `Remote server at ${maskUrl(transport.url, hideAll)}, over ${how}`;
  }
  const { launcher, command } = transport;
  const args = maskArgs(transport.args, hideAll);
  if (launcher === "docker") {
    const { image, rest = [] } = parseDockerRun(args) ?? {};
    if (image !== undefined) return `Container image ${image}, run by ${base(command)}${withArguments(rest.slice(1))}`;
  }
  if (launcher === "npx" || launcher === "uvx") {
    const subcommands = /^(?:npx|uvx)\b/.test(base(command)) ? /^$/ : /^(?:exec|x|tool|run|dlx)$/;
    const at = args.findIndex((word) => !word.startsWith("-") && !subcommands.test(word));
    const kind = launcher === "npx" ? "npm package" : "Python package";
    if (at >= 0) return `${kind} ${args[at]}, run by ${base(command)}${withArguments(args.slice(at + 1))}`;
  }
  return `Program ${command}${withArguments(args)}`;
}

function withArguments(args: readonly string[]): string {
  if (args.length === 0) return "";
  return `, ${args.length === 1 ? "argument" : "arguments"} ${args.join(" ")}`;
}

function base(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== "") ?? path;
}
