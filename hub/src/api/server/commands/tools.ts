// Lists and calls tools, reads resources and gets prompts: of one server, or of a group as its clients see it.

import type { ServerRequest } from "../../../calls/call.ts";
import { withExposedUris } from "../../../calls/exposed-uris.ts";
import { refusedArgument, withFixedArguments } from "../../../calls/fixed-arguments.ts";
import { KeptResults } from "../../../calls/results/kept-results.ts";
import { givenName, type ExposedTool, type Group } from "../../../catalog/group.ts";
import type { Listing } from "../../../catalog/listing.ts";
import { NO_GROUP } from "../../../catalog/membership.ts";
import { MAX_NAME_LENGTH } from "../../../catalog/repair.ts";
import type { ToolRules } from "../../../catalog/tool-rules.ts";
import { withheldError } from "../../../catalog/withheld.ts";
import { TokenCounts } from "../../../catalog/tokens.ts";
import { didYouMean } from "@plugboard/shared/near-names";
import { HubError } from "../../../errors.ts";
import { callerFor, LOCAL } from "../../../servers/instances/caller.ts";
import type { ClientResponder } from "../../../servers/connection/client-responder.ts";
import type { Arrival } from "../../../telemetry/tracing.ts";
import { isObject, type JsonObject } from "../../../lib/json/json.ts";
import type { Cancellation } from "../../../lib/cancellation.ts";
import { failure, rawParams, RPC, type Raw, type RawParams, type Reply } from "../../../protocol/rpc/jsonrpc.ts";
import { withContent } from "../../../protocol/revisions/tool-era.ts";
import type { Managed } from "../core.ts";
import {
  TOOL_FLAGS,
  type GroupTool,
  type GroupToolDetail,
  type Prompt,
  type ResourceTemplate,
  type Tool,
  type ToolDetail,
  type ToolIndex,
} from "../../schemas/tool.ts";
import { toolsOf } from "../tool-marks.ts";
import { toPrompt, toTemplate, toTool, withFlags } from "../view.ts";

export interface RequestOptions {
  /** Name of the client, for the call log. */
  readonly client?: string | undefined;
  /** For the trace. */
  readonly arrival?: Arrival | undefined;
  readonly signal?: Cancellation | undefined;
  readonly timeoutMs?: number | undefined;
  /** Whose logins and personal secrets the call uses. Default: those of the hub's owner. */
  readonly principal?: string | undefined;
  /** For the call log. */
  readonly workflowId?: string | undefined;
}

/** Reply of a server to a call, and its duration. */
export interface CallOutcome {
  readonly reply: Reply;
  readonly durationMs: number;
}

/** Refuses requests of the server: a call through the management API has no client that could answer them. */
const NO_CLIENT: ClientResponder = {
  wasAsked: false,
  askedMs: 0,
  capabilities: {},
  caller: () => undefined,
  answer: async ({ method }) =>
    failure({
      code: RPC.methodNotFound,
      message: `${method} cannot be answered: the call came from a program. Call the tool from an MCP client, or with plugboard call on a terminal`,
    }),
  completed: () => undefined,
};

export class ToolCommands {
  readonly #managed: Managed;
  readonly #tokens: TokenCounts;

  constructor(managed: Managed, tokens: TokenCounts = new TokenCounts()) {
    this.#managed = managed;
    this.#tokens = tokens;
  }

  ofServer(id: string): Tool[] {
    const { tools } = this.#listing(id);
    return tools.map(toolsOf(this.#managed.hub, this.#managed.hub.supervisor.get(id)).toolOf);
  }

  /** One tool by its name on the server. */
  onServer(id: string, name: string): ToolDetail {
    const { tools } = this.#listing(id);
    const definition = tools.find((tool) => tool["name"] === name);
    if (definition === undefined) throw noTool(this.#managed.hub.supervisor.get(id).name, name, tools);
    const { toolOf } = toolsOf(this.#managed.hub, this.#managed.hub.supervisor.get(id));
    return { ...toolOf(definition), tokens: this.#tokens.of(definition) };
  }

  promptsOf(id: string): Prompt[] {
    return this.#listing(id).prompts.map(toPrompt);
  }

  templatesOf(id: string): ResourceTemplate[] {
    return this.#listing(id).templates.map(toTemplate);
  }

  /** One tool by its name in the group, or `server:tool`. */
  inGroup(group: string, exposed: string): GroupToolDetail {
    const { server, tool, definition } = this.#group(group).resolveTool(exposed);
    return { ...this.#shown(server, definition), server, tool, tokens: this.#tokens.of(definition) };
  }

  /** The tools of all servers, under their own names. */
  index(): ToolIndex {
    const { servers } = this.#managed.hub.supervisor;
    return this.#toIndex(
      servers.flatMap(({ name, isOffered, listing }) =>
        (isOffered ? (listing?.tools ?? []) : []).map((definition) => {
          const tool = String(definition["name"]);
          return { server: name, tool, exposed: tool, definition };
        }),
      ),
    );
  }

  indexOfGroup(group: string): ToolIndex {
    return this.#toIndex(this.#group(group).tools);
  }

  #toIndex(tools: readonly ExposedTool[]): ToolIndex {
    const servers = new Map<string, number>();
    const rows = tools.map(({ server, tool, exposed, definition }): ToolIndex["tools"][number] => {
      const index = servers.get(server) ?? servers.size;
      servers.set(server, index);
      const { title, annotations } = definition;
      const shown = typeof title === "string" ? title : null;
      return [index, exposed, tool, shown, flagsOf(annotations), this.#tokens.of(definition)];
    });
    return { servers: [...servers.keys()], tools: rows };
  }

  #listing(id: string): Listing {
    const server = this.#managed.hub.supervisor.get(id);
    if (server.isOffered) return server.listing ?? NO_LISTING;
    throw server.unavailable();
  }

  /** A summary omits the schemas. */
  ofGroup(group: string, { view = "full" }: { view?: "full" | "summary" } = {}): GroupTool[] {
    if (view === "summary") {
      return this.#group(group).tools.map(({ server, tool, definition }) => {
        const { output_schema: _, annotations: __, ...shown } = this.#shown(server, definition);
        return { ...shown, input_schema: {}, server, tool };
      });
    }
    return this.#group(group).tools.map(({ server, tool, definition }) => ({
      ...this.#shown(server, definition),
      server,
      tool,
    }));
  }

  #shown(server: string, definition: JsonObject): Tool {
    return toTool(definition, withFlags(this.#managed.hub.catalog.flagsOf(server, definition)));
  }

  /** By the name on the server. */
  async callOnServer(id: string, tool: string, args: RawParams, options: RequestOptions = {}): Promise<CallOutcome> {
    requireName(tool);
    const target = await this.#resolve({ group: NO_GROUP, server: id, tool, args }, options, () => {
      const server = this.#managed.hub.supervisor.get(id);
      if (server.status.state === "disabled") {
        throw new HubError("ServerDisabled", `Server "${server.name}" is disabled`, {
          hint: `plugboard enable ${server.name}`,
        });
      }
      const definition = server.listing?.tools.find(({ name }) => name === tool);
      if (server.isOffered && definition === undefined) {
        throw noTool(server.name, tool, server.listing?.tools ?? []);
      }
      const reason = this.#managed.hub.serverApprovals.withheld(server.config, server.listing?.tools ?? [])?.get(tool);
      if (reason !== undefined) throw withheldError(server.name, tool, reason);
      const rules = this.#managed.hub.catalog.rulesOnServer(server.name, tool);
      return { server: server.name, tool, definition, rules };
    });
    return this.#call({ group: NO_GROUP, params: toParams(tool, args), ...target }, options);
  }

  /** By the name in the group, or `server:tool`. */
  async callInGroup(
    name: string,
    exposed: string,
    args: RawParams,
    options: RequestOptions = {},
  ): Promise<CallOutcome> {
    requireName(exposed.slice(exposed.indexOf(":") + 1));
    const { group, ...target } = await this.#resolve({ group: name, server: "", tool: exposed, args }, options, () => {
      const found = this.#group(name);
      return { group: found, ...found.resolveTool(exposed) };
    });
    const { server, tool, definition, override, rules } = target;
    const { client, workflowId, arrival } = options;
    const params = toParams(tool, args);
    const forbidden = override === undefined ? undefined : refusedArgument(override, params);
    if (forbidden !== undefined) {
      const refused = { group: group.name, server, name: tool, exposed: givenName(target), params };
      throw await this.#managed.hub.calls.refuse({ ...refused, client, workflowId, arrival }, forbidden);
    }
    const outcome = await this.#call(
      {
        group: group.name,
        server,
        tool,
        exposed: givenName(target),
        params: override === undefined ? params : withFixedArguments(override, params),
        definition: override?.definition ?? definition,
        rules,
      },
      options,
    );
    return { ...outcome, reply: withExposedUris(outcome.reply, group.rewrittenUris(server)) };
  }

  async readResource(name: string, exposed: string, options: RequestOptions = {}): Promise<Raw> {
    const group = this.#group(name);
    if (KeptResults.owns(exposed)) return this.#managed.hub.calls.results.read(exposed, keeperOf(options));
    const { server, uri } = group.resolveResource(exposed);
    return this.#request(group, server, { method: "resources/read", params: { uri } }, options);
  }

  async getPrompt(name: string, exposed: string, args: JsonObject, options: RequestOptions = {}): Promise<Raw> {
    const group = this.#group(name);
    const { server, prompt } = group.resolvePrompt(exposed);
    return this.#request(group, server, { method: "prompts/get", params: { name: prompt, arguments: args } }, options);
  }

  /** Finds the target of a call. A failure is recorded as a refused call. */
  async #resolve<T>(
    {
      group,
      server,
      tool,
      args,
    }: { readonly group: string; readonly server: string; readonly tool: string; readonly args: RawParams },
    { client, workflowId, arrival }: RequestOptions,
    find: () => T,
  ): Promise<T> {
    try {
      return find();
    } catch (thrown) {
      const call = { group, server, name: tool, params: toParams(tool, args), client, workflowId, arrival };
      throw await this.#managed.hub.calls.refuse(call, thrown);
    }
  }

  async #call(call: ServerCall, options: RequestOptions): Promise<CallOutcome> {
    const { group, server, tool, exposed, params, definition, rules } = call;
    const startedAt = performance.now();
    const reply = await this.#managed.hub.calls.callTool({
      method: "tools/call",
      params,
      ...(definition === undefined ? {} : { tool: definition }),
      group,
      server,
      name: tool,
      exposed,
      approval: rules?.approval,
      client: options.client,
      responder: NO_CLIENT,
      workflowId: options.workflowId,
      ...toServerRequest(options),
    });
    const durationMs = performance.now() - startedAt;
    return {
      reply: reply.ok ? { ok: true, result: this.#limited(withContent(reply.result), call, options) } : reply,
      durationMs,
    };
  }

  /** A result that is too large is cut, and its caller can read the rest. */
  #limited(result: Raw, { rules, definition }: ServerCall, options: RequestOptions): Raw {
    const maxBytes = rules?.maxResultBytes;
    if (maxBytes === undefined) return result;
    const owner = keeperOf(options);
    return this.#managed.hub.calls.results.limit(result, {
      maxBytes,
      owner,
      outputSchema: definition?.["outputSchema"],
    });
  }

  async #request(
    group: Group,
    server: string,
    { method, params }: { method: string; params: JsonObject },
    options: RequestOptions,
  ): Promise<Raw> {
    const request = {
      method,
      params: rawParams(params),
      group: group.name,
      client: options.client,
      ...toServerRequest(options),
    };
    const reply = withExposedUris(await this.#managed.hub.calls.forward(server, request), group.rewrittenUris(server));
    if (reply.ok) return reply.result;
    const { message } = isObject(reply.error.value) ? reply.error.value : {};
    throw new HubError("ProtocolError", `Server "${server}" answered with an error`, { detail: String(message) });
  }

  #group(name: string): Group {
    return this.#managed.hub.catalog.groupOrSuggest(name);
  }
}

/** Who may read what was cut from a result: only who called, through the API. */
function keeperOf({ principal = LOCAL.principal() }: RequestOptions): string {
  return JSON.stringify([principal, "api"]);
}

const NO_LISTING: Listing = { tools: [], resources: [], templates: [], prompts: [] };

function flagsOf(annotations: unknown): number {
  if (!isObject(annotations)) return 0;
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  return (
    (readOnlyHint === true ? TOOL_FLAGS.readOnly : 0) +
    (destructiveHint === true ? TOOL_FLAGS.destructive : 0) +
    (idempotentHint === true ? TOOL_FLAGS.idempotent : 0) +
    (openWorldHint === true ? TOOL_FLAGS.openWorld : 0)
  );
}

function noTool(server: string, tool: string, tools: readonly JsonObject[]): HubError {
  const known = tools.map((each) => String(each["name"]));
  return new HubError("ToolNotFound", "Tool not found", {
    detail: `Server "${server}" has no tool "${tool}"`,
    hint: didYouMean(tool, known, "Tools"),
  });
}

/** Tools with longer names are never offered. */
function requireName(tool: string): void {
  if (tool.length <= MAX_NAME_LENGTH) return;
  const message = `A tool name has at most ${MAX_NAME_LENGTH} characters, and this one has ${tool.length}`;
  throw new HubError("InvalidArgument", message, { field: "tool" });
}

interface ServerCall {
  readonly group: string;
  readonly server: string;
  readonly tool: string;
  /** The name in the group. */
  readonly exposed?: string | undefined;
  readonly params: RawParams | undefined;
  readonly definition: JsonObject | undefined;
  readonly rules: ToolRules | undefined;
}

/** Keeps the bytes of the arguments, so that numbers which JavaScript cannot represent reach the server unchanged. */
function toParams(name: string, { bytes, value }: RawParams): RawParams {
  const head = Buffer.from(`{"name":${JSON.stringify(name)},"arguments":`);
  return rawParams({ name, arguments: value }, Buffer.concat([head, bytes, Buffer.from("}")]));
}

function toServerRequest({
  signal,
  timeoutMs,
  arrival,
  principal,
}: RequestOptions): Pick<ServerRequest, "caller" | "signal" | "timeoutMs" | "arrival"> {
  return {
    caller: principal === undefined ? LOCAL : callerFor(principal),
    arrival,
    ...(signal === undefined ? {} : { signal }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}
