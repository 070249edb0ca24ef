// How a managed server, and what it offers, looks from outside. Nothing here asks the server anything.

import type { EntryTime } from "../config/entry-times.ts";
import type { ErrorBody } from "../errors.ts";
import type { PackageInUse } from "../servers/npm/packages.ts";
import type { ManagedServer } from "../servers/server.ts";
import type { TestResult as Trial } from "../servers/supervisor.ts";
import type { Status } from "../servers/status.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { toShown } from "./entry/entry.ts";
import type { Server, TestResult } from "./schemas/server.ts";
import type { Resource, Tool } from "./schemas/tool.ts";

export interface Surroundings {
  readonly times: EntryTime;
  /** The groups that the server is in. */
  readonly groups: readonly string[];
  readonly warnings: readonly string[];
}

export function toServer(server: ManagedServer, { times, groups, warnings }: Surroundings): Server {
  const { config, status, listing, isOffered, hello, pid, instances, circuit, nextTry, package: inUse } = server;
  const { transport } = config;
  const offered = isOffered ? listing : undefined;
  const refs = Object.entries(config.env).flatMap(([name, { secretRef }]) =>
    secretRef === undefined ? [] : [[name, secretRef]],
  );
  return {
    config: toShown(config),
    status: status.state,
    tools: (offered?.tools ?? []).map(toTool),
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
    install: server.installPlace ?? null,
    circuit: circuit.breaker.state,
    next_try:
      nextTry === undefined
        ? null
        : { at: new Date(nextTry.at).toISOString(), tries: nextTry.tries, crash_loop: nextTry.crashLoop },
    warnings: [...warnings, ...server.warnings],
    secret_refs: Object.fromEntries(refs),
    groups: [...groups],
    package: inUse === undefined ? null : toPackage(inUse),
  };
}

function toPackage({ installedAt, ...inUse }: PackageInUse): NonNullable<Server["package"]> {
  return { ...inUse, installed_at: installedAt };
}

/** Without secrets: the server's own words were cleaned when they came. */
export function errorOf(status: Status): ErrorBody | null {
  return "error" in status ? status.error : null;
}

export function toTool(definition: JsonObject): Tool {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition;
  return {
    name: String(name),
    description: typeof description === "string" ? description : "",
    input_schema: isObject(inputSchema) ? { ...inputSchema } : {},
    ...(typeof title === "string" ? { title } : {}),
    ...(isObject(outputSchema) ? { output_schema: { ...outputSchema } } : {}),
    ...(isObject(annotations) ? { annotations: { ...annotations } } : {}),
  };
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

export function toTestResult({ tools, resources, ...trial }: Trial): TestResult {
  return { ...trial, tools: tools.map(toTool), resources: resources.map(toResource) };
}
