// A group as an MCP server with small MCP servers over HTTP, and requests of clients in memory.

import { createServer } from "node:http";
import { onTestFinished } from "vitest";
import { Approvals } from "../../hub/src/calls/call-approval/approvals.ts";
import { Calls } from "../../hub/src/calls/calls.ts";
import { Latency } from "../../hub/src/calls/latency.ts";
import { Redactor } from "../../hub/src/redaction/redactor.ts";
import { MemoryCallLog } from "../../hub/src/call-log/memory-call-log.ts";
import { Catalog } from "../../hub/src/catalog/catalog.ts";
import type { GroupConfig, HubConfig, ServerConfig } from "../../hub/src/config/schema/types.ts";
import { HubEvents } from "../../hub/src/events.ts";
import { EraMemory } from "../../hub/src/servers/connection/era-memory.ts";
import { Watchdog } from "../../hub/src/servers/process/watchdog.ts";
import { Supervisor } from "../../hub/src/servers/supervisor.ts";
import { adaptResult, type Era } from "../../hub/src/protocol/revisions/era.ts";
import { StreamableHttpServer } from "../../hub/src/protocol/serve/http-server.ts";
import type { JsonObject } from "../../hub/src/lib/json/json.ts";
import { failure, rawParams, RPC, success, type Id, type Reply } from "../../hub/src/protocol/rpc/jsonrpc.ts";
import { NodeResponse } from "../../hub/src/http/node-response.ts";
import { SessionUsage } from "../../hub/src/protocol/serve/session-init.ts";
import type { IncomingRequest, Session } from "../../hub/src/protocol/serve/service.ts";
import { Endpoint } from "../../hub/src/mcp/endpoint.ts";
import { listen } from "./sockets.ts";
import { MemorySecrets } from "../../hub/src/secrets/memory-store.ts";

export type Tool = (incoming: IncomingRequest) => Reply | Promise<Reply>;

interface ServerOptions {
  readonly era?: Era;
  readonly tools?: Readonly<Record<string, Tool>>;
  readonly definitions?: readonly JsonObject[];
  readonly resources?: readonly string[];
  readonly instructions?: string;
}

export const text = (value: string) => success({ content: [{ type: "text", text: value }] });

/** An MCP server of one era with the given tools, one prompt, one template. Records every request. */
export async function startServer({
  era = "legacy",
  tools = {},
  definitions,
  resources = [],
  instructions,
}: ServerOptions = {}) {
  const seen: IncomingRequest[] = [];
  const capabilities = { tools: {}, prompts: {}, resources: {}, completions: {}, logging: {} };
  const named = Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } }));
  const hello = instructions === undefined ? { capabilities } : { capabilities, instructions };
  const answers: Record<string, Tool> = {
    "tools/list": () => success({ tools: definitions ?? named }),
    "prompts/list": () => success({ prompts: [{ name: "greet" }] }),
    "resources/list": () => success({ resources: resources.map((uri) => ({ uri, name: uri })) }),
    "resources/templates/list": () => success({ resourceTemplates: [{ uriTemplate: "item:{id}", name: "item" }] }),
    "tools/call": (incoming) => {
      const tool = tools[String(incoming.request.params?.value["name"])];
      return tool === undefined ? failure({ code: RPC.invalidParams, message: "no such tool" }) : tool(incoming);
    },
    "prompts/get": () => success({ messages: [] }),
    "resources/read": ({ request }) => success({ contents: [{ uri: request.params?.value["uri"], text: "x" }] }),
    "completion/complete": () => success({ completion: { values: ["a"] } }),
    ...(era === "modern"
      ? { "server/discover": () => success({ ...hello, supportedVersions: ["2026-07-28"] }) }
      : {
          initialize: (incoming) =>
            success({ ...hello, protocolVersion: incoming.session?.version, serverInfo: { name: "x" } }),
          "logging/setLevel": () => success({}),
        }),
  };
  const endpoint = new StreamableHttpServer({
    handle: async (incoming) => {
      seen.push(incoming);
      const { method } = incoming.request;
      const reply = (await answers[method]?.(incoming)) ?? failure({ code: RPC.methodNotFound, message: method });
      return reply.ok ? { ok: true, result: adaptResult(reply.result, method, era) } : reply;
    },
    onNotification: () => undefined,
    onSession: () => undefined,
    onSessionEnd: () => undefined,
  });
  const http = createServer((request, response) => endpoint.handle(request, new NodeResponse(response)));
  const port = await listen(http);
  const close = async () => {
    endpoint.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
  onTestFinished(close);
  const asked = (method: string) => seen.filter(({ request }) => request.method === method);
  return { url: `http://127.0.0.1:${port}/mcp`, asked, close };
}

function config(name: string, url: string): ServerConfig {
  const transport = { type: "http", url, headers: {} } as const;
  const base = { id: name, name, enabled: true, source: { type: "manual" }, transport, env: {} } as const;
  return { ...base, timeouts: {}, groups: [] };
}

/** A supervisor without servers, and calls through it. */
export async function openCalls() {
  const supervisor = new Supervisor(
    {
      variables: {},
      secrets: new MemorySecrets(),
      watchdog: new Watchdog({ instance: "test" }),
      eras: await EraMemory.open(),
      instance: "test",
      redactor: new Redactor(),
    },
    { onStatus: () => undefined, onOffer: () => undefined },
  );
  const events = new HubEvents();
  const log = new MemoryCallLog({ redactor: new Redactor() });
  const redactor = new Redactor();
  const approvals = new Approvals({
    events,
    redact: (json) => redactor.redact(json),
    record: async () => undefined,
    isReachable: () => true,
  });
  return { supervisor, events, calls: new Calls({ supervisor, events, log, latency: new Latency(), approvals }) };
}

/** An endpoint of the group `default` (or the given one) over running servers. */
export async function startEndpoint(
  urls: Readonly<Record<string, string>>,
  groups: readonly GroupConfig[] = [],
  settled?: Promise<void>,
) {
  const { supervisor, calls, events } = await openCalls();
  const servers = Object.entries(urls).map(([name, url]) => config(name, url));
  for (const server of servers) supervisor.add(server);
  onTestFinished(() => supervisor.shutdownAll());
  await supervisor.startAll();
  const hub: HubConfig = { servers, groups };
  const group = () => Catalog.build(hub, supervisor.listings()).group(groups[0]?.name);
  const endpoint = new Endpoint({ group, calls, supervisor, ...(settled === undefined ? {} : { settled }) });
  onTestFinished(() => endpoint.close());
  return { endpoint, supervisor, events };
}

export function session(version = "2025-11-25"): Session {
  const notify = () => undefined;
  const base = {
    id: "1",
    publicId: "public",
    usage: new SessionUsage(),
    version,
    clientInfo: undefined,
    capabilities: {},
    logLevel: undefined,
  };
  return { ...base, notify, ask: () => Promise.reject(new Error("no client")) };
}

interface AskOptions {
  readonly id?: Id;
  readonly era?: Era;
  readonly session?: Session;
  readonly logLevel?: string;
  readonly headers?: IncomingRequest["headers"];
  readonly signal?: AbortSignal;
}

/** One request of a client in memory, and the messages before its reply. */
export async function ask(endpoint: Endpoint, method: string, params?: JsonObject | string, options: AskOptions = {}) {
  const received: { method: string; params: unknown }[] = [];
  const given =
    typeof params === "string" ? rawParams(JSON.parse(params), Buffer.from(params)) : params && rawParams(params);
  const reply = await endpoint.handle({
    request: { kind: "request", id: options.id ?? 1, method, params: given },
    era: options.era ?? "legacy",
    transport: "http",
    session: options.session,
    capabilities: options.session?.capabilities ?? {},
    logLevel: options.logLevel,
    headers: options.headers ?? {},
    signal: options.signal ?? new AbortController().signal,
    notify: (name, payload) => received.push({ method: name, params: payload?.value }),
  });
  const payload = reply.ok ? reply.result : reply.error;
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- what a test expects is checked where it expects it
  const value = JSON.parse(payload.bytes.toString()) as Record<string, any>; // eslint-disable-line typescript/no-explicit-any -- likewise
  return { ok: reply.ok, bytes: payload.bytes.toString(), value, received };
}
