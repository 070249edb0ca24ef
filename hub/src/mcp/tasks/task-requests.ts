// Forwards the task requests of both eras to the server that has the task. tasks.ts tracks the owners.

import type { Calls } from "../../calls/calls.ts";
import type { ServerRequest } from "../../calls/call.ts";
import { exposingUris } from "../../calls/exposed-uris.ts";
import type { Group } from "../../catalog/group.ts";
import { HubError } from "../../errors.ts";
import { keepOpen } from "../../servers/connection/announcements.ts";
import type { Caller } from "../../servers/instances/caller.ts";
import type { Supervisor } from "../../servers/supervisor.ts";
import { toAbortSignal } from "../../lib/cancellation.ts";
import { arrayOf, editMember } from "../../protocol/rpc/json-edit.ts";
import { isObject } from "../../lib/json/json.ts";
import { failure, rawParams, RPC, type Raw, type RawParams, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { IncomingRequest } from "../../protocol/serve/service.ts";
import { serverInfosOf, offersTasks } from "../group-capabilities.ts";
import { withTimeout } from "../../lib/with-timeout.ts";
import { lastingCallerOf } from "../principal.ts";
import { withSubscriptionId } from "../resources/resource-subscription.ts";
import { TASKS_EXTENSION, withTaskId, type Task, type Tasks } from "./tasks.ts";
import type { ListenGrant } from "../lists/list-changed.ts";

export interface TaskRequestsOptions {
  readonly tasks: Tasks;
  readonly calls: Calls;
  readonly supervisor: Supervisor;
}

/** The common members of a request that is forwarded to this server. */
type RequestFor = (server: string) => ServerRequest;

/** `tasks/result` replies when the task is done. */
const RESULT_MS = 60 * 60 * 1000;
const MAX_LISTED = 100;
const MAX_LISTENED = 100;
const ACKNOWLEDGE_MS = 10_000;

export class TaskRequests {
  readonly #options: TaskRequestsOptions;

  constructor(options: TaskRequestsOptions) {
    this.#options = options;
  }

  /** `tasks/get`, `tasks/update`, `tasks/cancel`, `tasks/result`. */
  async forward(incoming: IncomingRequest, group: Group, requestFor: RequestFor): Promise<Reply> {
    const refusal = this.#refusal(incoming, group);
    if (refusal !== undefined) return refusal;
    const task = this.#options.tasks.resolve(incoming.request.params?.value["taskId"], incoming);
    return this.#send(task, group, requestFor(task.server));
  }

  /** `tasks/list`: a server's own list has the tasks of all clients, so each task of this client is requested by itself. */
  async list(incoming: IncomingRequest, group: Group, requestFor: RequestFor): Promise<Reply> {
    const refusal = this.#refusal(incoming, group);
    if (refusal !== undefined) return refusal;
    const own = this.#options.tasks.listFor(incoming).filter(({ server }) => group.servers.includes(server));
    const get = (server: string) => ({ ...requestFor(server), method: "tasks/get", params: rawParams({}) });
    const find = (task: Task) => this.#send(task, group, get(task.server)).catch(() => undefined); // expired, or its server is down
    const replies = await Promise.all(own.slice(0, MAX_LISTED).map(find));
    const known = replies.flatMap((reply) => (reply?.ok === true ? [reply.result] : []));
    const tasks = arrayOf(known);
    const bytes = Buffer.concat([Buffer.from('{"tasks":'), tasks.bytes, Buffer.from("}")]);
    return { ok: true, result: { bytes, value: { tasks: tasks.value } } };
  }

  /** The tasks of a `subscriptions/listen`; undefined if it wants none. Tasks of other owners are omitted. */
  grant(incoming: IncomingRequest, group: Group): Promise<ListenGrant> | undefined {
    const wanted = incoming.request.params?.value["notifications"];
    const ids = isObject(wanted) ? wanted["taskIds"] : undefined;
    if (!Array.isArray(ids) || ids.length === 0 || this.#refusal(incoming, group) !== undefined) return undefined;
    const asked = [...new Set(ids)].slice(0, MAX_LISTENED);
    const tasks = asked.flatMap((id) => this.#options.tasks.findFor(id, incoming) ?? []);
    return this.#listen(
      incoming,
      tasks.filter(({ server }) => group.servers.includes(server)),
    );
  }

  async #listen(incoming: IncomingRequest, tasks: readonly Task[]): Promise<ListenGrant> {
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, toAbortSignal(incoming.signal)]);
    const early: RawParams[] = [];
    let onTask = (params: RawParams): unknown => early.push(params);
    const accepted: string[] = [];
    const caller = lastingCallerOf(incoming);
    const onOpen = (ids: readonly string[]) => void accepted.push(...ids);
    const opening = [...new Set(tasks.map(({ server }) => server))].map((server) => {
      const own = tasks.filter((task) => task.server === server);
      return this.#listenTo(server, own, { caller, signal, onOpen, onTask: (params) => void onTask(params) });
    });
    await withTimeout(Promise.all(opening), { ms: ACKNOWLEDGE_MS, signal }).catch(() => undefined); // `honoured` has the result
    const notify = (params: RawParams) =>
      incoming.notify("notifications/tasks", withSubscriptionId(params, incoming.request.id));
    return {
      notifications: accepted.length === 0 ? {} : { taskIds: [...accepted] },
      begin: () => {
        onTask = notify;
        early.forEach(notify);
      },
      end: () => ended.abort(),
    };
  }

  /** Resolves when the server has acknowledged or refused it. */
  #listenTo(server: string, tasks: readonly Task[], { caller, signal, onOpen, onTask }: TaskListener): Promise<void> {
    return new Promise((resolve) => {
      let isOpen = false;
      const onNotification = (method: string, params: Raw) => {
        if (method === "notifications/subscriptions/acknowledged" && !isOpen) {
          isOpen = true;
          onOpen(acceptedIds(params.value, tasks));
          resolve();
        }
        const task = isObject(params.value) ? this.#options.tasks.find(server, params.value["taskId"]) : undefined;
        if (method !== "notifications/tasks" || task === undefined || !tasks.includes(task)) return;
        const { bytes, value } = withTaskId(params, task);
        if (isObject(value)) onTask(rawParams(value, bytes));
      };
      const params = rawParams({ notifications: { taskIds: tasks.map(({ taskId }) => taskId) } });
      const listen = async () => {
        await this.#options.supervisor.answering(server).listen({ params, caller, signal, onNotification });
        return isOpen; // not acknowledged: refused
      };
      void keepOpen(listen, signal).then(resolve);
    });
  }

  async #send(task: Task, group: Group, request: ServerRequest): Promise<Reply> {
    if (!group.servers.includes(task.server)) throw new HubError("ToolNotFound", "Task not found", { field: "taskId" });
    const timeoutMs = request.method === "tasks/result" ? { timeoutMs: RESULT_MS } : {};
    const sent = { ...request, ...timeoutMs, replace: { taskId: task.taskId } };
    const reply = await this.#options.calls.forward(task.server, sent);
    if (!reply.ok) return reply;
    const exposing = exposingUris(group.rewrittenUris(task.server));
    const translated = withTaskId(reply.result, task);
    // The result of the call is the reply itself, or its member `result`.
    const exposed = exposing(translated) ?? translated;
    return { ok: true, result: editMember(exposed, "result", exposing) ?? exposed };
  }

  /** Why this client cannot use tasks in this group, if so. */
  #refusal({ era, request, capabilities }: IncomingRequest, group: Group): Reply | undefined {
    const { supervisor } = this.#options;
    if (!serverInfosOf(group, supervisor).some((server) => server.era === era && offersTasks(server))) {
      return failure({ code: RPC.methodNotFound, message: `Method not found: ${request.method}` });
    }
    const { extensions } = capabilities;
    if (era === "legacy" || (isObject(extensions) && Object.hasOwn(extensions, TASKS_EXTENSION))) return undefined;
    const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
    return failure({ code: RPC.missingClientCapability, message: `The client must declare ${TASKS_EXTENSION}`, data });
  }
}

interface TaskListener {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** The accepted ids, converted to the clients' ids. */
  readonly onOpen: (ids: readonly string[]) => void;
  readonly onTask: (params: RawParams) => void;
}

function acceptedIds(acknowledged: unknown, tasks: readonly Task[]): string[] {
  const notifications = isObject(acknowledged) ? acknowledged["notifications"] : undefined;
  const ids: unknown = isObject(notifications) ? notifications["taskIds"] : undefined;
  return Array.isArray(ids) ? tasks.filter(({ taskId }) => ids.includes(taskId)).map(({ id }) => id) : [];
}

/** The error for a legacy client whose call became a modern task, which it could not use. */
export function unsupportedTask(result: Raw, { era }: IncomingRequest): Reply | undefined {
  const isTask = era === "legacy" && isObject(result.value) && result.value["resultType"] === "task";
  if (!isTask) return undefined;
  return failure({
    code: RPC.internalError,
    message: "The server turned this call into a task, in a form that this client's revision does not support",
  });
}
