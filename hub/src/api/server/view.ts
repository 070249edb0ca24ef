// Converts managed servers, tools and resources into the shapes of the API.

import { basename } from "node:path/posix";
import { findFlags } from "../../catalog/tool-flags.ts";
import type { TokenCounts } from "../../catalog/tokens.ts";
import { personalSecretsOf } from "../../config/parse/per-user.ts";
import { secretRefsOf } from "../../config/parse/secret-refs.ts";
import type { EntryTime } from "../../config/files/entry-times.ts";
import type { Transport } from "../../config/schema/types.ts";
import type { ServerInfo } from "../../servers/connection/handshake.ts";
import type { PackageInUse } from "../../servers/npm/packages.ts";
import type { LoginView } from "../../servers/login/login-view.ts";
import type { ManagedServer } from "../../servers/server.ts";
import type { TestResult as TestOutcome } from "../../servers/supervisor.ts";
import { errorOf } from "../../servers/status.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { toShown } from "./entry/entry.ts";
import type { KnownSecrets } from "./entry/known-secrets.ts";
import type { Approval } from "../schemas/server-approval.ts";
import type { Login } from "../schemas/login.ts";
import type { Server, TestResult } from "../schemas/server.ts";
import type { Prompt, Resource, ResourceTemplate, Tool } from "../schemas/tool.ts";
import type { Figures24h } from "./recent-calls.ts";

export interface ServerContext {
  readonly times: EntryTime;
  /** Groups that contain the server. */
  readonly groups: readonly string[];
  readonly warnings: readonly string[];
  readonly login: Login | null;
  /** Of everyone, where each caller has a login of its own. */
  readonly logins: readonly Login[];
  /** Hidden if an entry repeats them. */
  readonly secrets: KnownSecrets;
  readonly tokens: TokenCounts;
  /** A tool of the server as it is shown. */
  readonly toolOf: (definition: JsonObject) => Tool;
  readonly approval: Approval;
  /** Calls of the last 24 hours. */
  readonly recent: Figures24h;
}

export function toServer(server: ManagedServer, context: ServerContext): Server {
  const { times, groups, warnings, login, logins, secrets, tokens, toolOf, approval, recent } = context;
  const { config, status, listing, isOffered, info: hello, pid, instances, circuit, nextTry, package: inUse } = server;
  const { transport } = config;
  const personal = config.invalid === undefined ? personalSecretsOf(config) : [];
  const offered = isOffered ? listing : undefined;
  return {
    config: toShown(config, secrets),
    status: status.state,
    tools: (offered?.tools ?? []).map(toolOf),
    resources: (offered?.resources ?? []).map(toResource),
    tool_count: offered?.tools.length ?? 0,
    resource_count: offered?.resources.length ?? 0,
    created_at: new Date(times.createdAt).toISOString(),
    updated_at: new Date(times.updatedAt).toISOString(),
    kind: transport.type === "stdio" ? transport.launcher : transport.type,
    error: errorOf(status),
    pid: pid ?? null,
    instances: instances.map((each) => ({ pid: each.pid ?? null, since: new Date(each.since).toISOString() })),
    protocol_version: hello?.version ?? null,
    since: "since" in status ? new Date(status.since).toISOString() : null,
    stage: status.state === "starting" ? status.stage : null,
    install: server.installPosition ?? null,
    circuit: circuit.breaker.state,
    approval,
    next_try:
      nextTry === undefined
        ? null
        : { at: new Date(nextTry.at).toISOString(), tries: nextTry.tries, crash_loop: nextTry.crashLoop },
    warnings: [...warnings, ...server.warnings, ...loginWarnings(login)],
    secret_refs: secretRefsOf(config),
    groups: [...groups],
    login,
    ...(config.auth?.per === "user" ? { logins: [...logins] } : {}),
    ...(personal.length === 0 ? {} : { personal_secrets: personal }),
    package: inUse === undefined ? null : toPackage(inUse),
    launcher: launcherOf(transport),
    prompt_count: offered?.prompts.length ?? 0,
    tokens: tokens.sum(offered?.tools ?? []),
    restarts: [...server.restartCounts.values()].reduce((sum, count) => sum + count, 0),
    calls_24h: recent,
    ...aboutItself(hello ?? server.lastInfo),
  };
}

function launcherOf(transport: Transport): Server["launcher"] {
  if (transport.type !== "stdio") return "remote";
  if (transport.launcher !== "binary") return transport.launcher;
  return /^node(?:\.exe)?$/i.test(basename(transport.command.replaceAll("\\", "/"))) ? "node" : "program";
}

function aboutItself(info: ServerInfo | undefined): Pick<Server, "server_info" | "instructions" | "capabilities"> {
  const { name, version, title } = info?.serverInfo ?? {};
  return {
    server_info:
      typeof name !== "string"
        ? null
        : {
            name,
            version: typeof version === "string" ? version : "",
            ...(typeof title === "string" ? { title } : {}),
          },
    instructions: info?.instructions ?? null,
    capabilities: Object.keys(info?.capabilities ?? {}),
  };
}

/** What will go wrong with a login that works at the moment. */
export function loginWarnings(login: LoginView | Login | null | undefined): string[] {
  if (login === null || login === undefined) return [];
  const { server, state, renewable, expires_at: end, error } = login;
  if (state === "retrying") return [`Its login cannot be renewed at the moment: ${error?.message ?? "no answer"}`];
  if (state !== "connected" || renewable !== false) return [];
  const when = end === undefined ? "with its token" : `at ${end}`;
  return [
    `Its login ends ${when} and cannot be renewed: there is no refresh token. Repeat it: plugboard auth ${server}`,
  ];
}

function toPackage({ installedAt, ...inUse }: PackageInUse): NonNullable<Server["package"]> {
  return { ...inUse, installed_at: installedAt };
}

/** `marks`: what the hub says about it. */
export function toTool(definition: JsonObject, marks: Pick<Tool, "warnings" | "approval" | "withheld"> = {}): Tool {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition;
  return {
    name: String(name),
    description: typeof description === "string" ? description : "",
    input_schema: isObject(inputSchema) ? { ...inputSchema } : {},
    ...(typeof title === "string" ? { title } : {}),
    ...(isObject(outputSchema) ? { output_schema: { ...outputSchema } } : {}),
    ...(isObject(annotations) ? { annotations: { ...annotations } } : {}),
    ...marks,
  };
}

/** Only a tool with warnings has the member. */
export function withFlags(warnings: readonly string[]): Pick<Tool, "warnings"> {
  return warnings.length === 0 ? {} : { warnings: [...warnings] };
}

export function toResource(definition: JsonObject): Resource {
  const { uri, name, description, mimeType } = definition;
  return {
    uri: String(uri),
    name: typeof name === "string" ? name : String(uri),
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof mimeType === "string" ? { mime_type: mimeType } : {}),
  };
}

export function toPrompt(definition: JsonObject): Prompt {
  const { name, title, description, arguments: args } = definition;
  return {
    name: String(name),
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(Array.isArray(args) ? { arguments: args.filter(isObject).map(toArgument) } : {}),
  };
}

function toArgument({ name, title, description, required }: JsonObject): NonNullable<Prompt["arguments"]>[number] {
  return {
    name: String(name),
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof required === "boolean" ? { required } : {}),
  };
}

export function toTemplate(definition: JsonObject): ResourceTemplate {
  const { uriTemplate, name, title, description, mimeType } = definition;
  return {
    uri_template: String(uriTemplate),
    name: typeof name === "string" ? name : String(uriTemplate),
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof mimeType === "string" ? { mime_type: mimeType } : {}),
  };
}

export function toTestResult({ tools, resources, ...outcome }: TestOutcome): TestResult {
  return {
    ...outcome,
    tools: tools.map((tool) => toTool(tool, withFlags(findFlags(tool)))),
    resources: resources.map(toResource),
  };
}
