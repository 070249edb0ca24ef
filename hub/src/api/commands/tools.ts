// Tools, resources and prompts, listed and used, from one server or from a group as its clients see it.

import type { Question } from "../../calls/call.ts";
import { withExposedUris } from "../../calls/exposed-uris.ts";
import type { Group } from "../../catalog/group.ts";
import { MAX_NAME_LENGTH } from "../../catalog/repair.ts";
import { didYouMean } from "../../did-you-mean.ts";
import { HubError } from "../../errors.ts";
import { LOCAL } from "../../servers/caller.ts";
import type { Respondent } from "../../servers/respondent.ts";
import type { Arrival } from "../../telemetry/tracing.ts";
import { isObject, type JsonObject } from "../../wire/json.ts";
import type { Cancellation } from "../../wire/cancellation.ts";
import { failure, rawParams, RPC, type Raw, type RawParams, type Reply } from "../../wire/jsonrpc.ts";
import { withContent } from "../../wire/tool-era.ts";
import type { Managed } from "../core.ts";
import type { GroupTool, Tool } from "../schemas/tool.ts";
import { toTool } from "../view.ts";

export interface UseOptions {
  /** What the caller calls itself, for the record. */
  readonly client?: string | undefined;
  /** How the request came, for its trace. */
  readonly arrival?: Arrival | undefined;
  readonly signal?: Cancellation | undefined;
  readonly timeoutMs?: number | undefined;
  /** Which of its workflows a call belongs to, for the record. */
  readonly workflowId?: string | undefined;
}

/** A server's answer to a call, and how long it took. */
export interface CallOutcome {
  readonly reply: Reply;
  readonly durationMs: number;
}

/** A request of the management API has nobody behind it who could be asked. The server is told so, in words for whoever called. */
const NOBODY: Respondent = {
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

/** The group of calls that came through no group. No group can have this name. */
const NO_GROUP = "@api";

export class ToolCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  ofServer(id: string): Tool[] {
    const server = this.#managed.hub.supervisor.get(id);
    if (server.isOffered) return (server.listing?.tools ?? []).map(toTool);
    throw server.unavailable();
  }

  /** A summary has no schemas. */
  ofGroup(group: string, { view = "full" }: { view?: "full" | "summary" } = {}): GroupTool[] {
    if (view === "summary") {
      return this.#group(group).tools.map(({ server, tool, definition }) => {
        const { output_schema: _, annotations: __, ...shown } = toTool({ ...definition, inputSchema: undefined });
        return { ...shown, server, tool };
      });
    }
    return this.#group(group).tools.map(({ server, tool, definition }) => ({ ...toTool(definition), server, tool }));
  }

  /** By the name that the server itself knows. */
  async callOnServer(id: string, tool: string, args: RawParams, options: UseOptions = {}): Promise<CallOutcome> {
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
        const detail = `Server "${server.name}" has no tool "${tool}"`;
        const known = (server.listing?.tools ?? []).map((each) => String(each["name"]));
        throw new HubError("ToolNotFound", "Tool not found", { detail, hint: didYouMean(tool, known, "Tools") });
      }
      return { server: server.name, tool, definition };
    });
    return this.#call({ group: NO_GROUP, args, ...target }, options);
  }

  /** By the name that the group exposes, or `server:tool`. */
  async callInGroup(name: string, exposed: string, args: RawParams, options: UseOptions = {}): Promise<CallOutcome> {
    requireName(exposed.slice(exposed.indexOf(":") + 1));
    const { group, ...target } = await this.#resolve({ group: name, server: "", tool: exposed, args }, options, () => {
      const found = this.#group(name);
      return { group: found, ...found.resolveTool(exposed) };
    });
    const { server, tool, definition } = target;
    const outcome = await this.#call({ group: group.name, server, tool, args, definition }, options);
    return { ...outcome, reply: withExposedUris(outcome.reply, group.rewrittenUris(server)) };
  }

  async readResource(name: string, exposed: string, options: UseOptions = {}): Promise<Raw> {
    const group = this.#group(name);
    const { server, uri } = group.resolveResource(exposed);
    return this.#ask(group, server, { method: "resources/read", params: { uri } }, options);
  }

  async getPrompt(name: string, exposed: string, args: JsonObject, options: UseOptions = {}): Promise<Raw> {
    const group = this.#group(name);
    const { server, prompt } = group.resolvePrompt(exposed);
    return this.#ask(group, server, { method: "prompts/get", params: { name: prompt, arguments: args } }, options);
  }

  /** Where a call goes. One that goes nowhere is on record all the same. */
  async #resolve<T>(
    { group, server, tool, args }: Omit<ServerCall, "definition">,
    { client, workflowId }: UseOptions,
    find: () => T,
  ): Promise<T> {
    try {
      return find();
    } catch (thrown) {
      const call = { group, server, name: tool, params: toParams(tool, args), client, workflowId };
      throw await this.#managed.hub.calls.refuse(call, thrown);
    }
  }

  async #call(call: ServerCall, options: UseOptions): Promise<CallOutcome> {
    const { group, server, tool, args, definition } = call;
    const startedAt = performance.now();
    const reply = await this.#managed.hub.calls.tool({
      method: "tools/call",
      params: toParams(tool, args),
      ...(definition === undefined ? {} : { tool: definition }),
      group,
      server,
      name: tool,
      client: options.client,
      respondent: NOBODY,
      workflowId: options.workflowId,
      ...toAsk(options),
    });
    const durationMs = performance.now() - startedAt;
    return { reply: reply.ok ? { ok: true, result: withContent(reply.result) } : reply, durationMs };
  }

  async #ask(
    group: Group,
    server: string,
    { method, params }: { method: string; params: JsonObject },
    options: UseOptions,
  ): Promise<Raw> {
    const ask = { method, params: rawParams(params), group: group.name, client: options.client, ...toAsk(options) };
    const reply = withExposedUris(await this.#managed.hub.calls.ask(server, ask), group.rewrittenUris(server));
    if (reply.ok) return reply.result;
    const { message } = isObject(reply.error.value) ? reply.error.value : {};
    throw new HubError("ProtocolError", `Server "${server}" answered with an error`, { detail: String(message) });
  }

  #group(name: string): Group {
    return this.#managed.hub.catalog.groupOrSuggest(name);
  }
}

/** No server's tool of a longer name is offered. */
function requireName(tool: string): void {
  if (tool.length <= MAX_NAME_LENGTH) return;
  const message = `A tool name has at most ${MAX_NAME_LENGTH} characters, and this one has ${tool.length}`;
  throw new HubError("InvalidConfig", message, { field: "tool" });
}

interface ServerCall {
  readonly group: string;
  readonly server: string;
  readonly tool: string;
  readonly args: RawParams;
  readonly definition: JsonObject | undefined;
}

/** The arguments as they came: a number that JavaScript cannot hold reaches the server all the same. */
function toParams(name: string, { bytes, value }: RawParams): RawParams {
  const head = Buffer.from(`{"name":${JSON.stringify(name)},"arguments":`);
  return rawParams({ name, arguments: value }, Buffer.concat([head, bytes, Buffer.from("}")]));
}

function toAsk({
  signal,
  timeoutMs,
  arrival,
}: UseOptions): Pick<Question, "caller" | "signal" | "timeoutMs" | "arrival"> {
  return {
    caller: LOCAL,
    arrival,
    ...(signal === undefined ? {} : { signal }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}
