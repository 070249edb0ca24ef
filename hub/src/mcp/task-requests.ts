// The requests about tasks, in either era: each goes to the server that has the task. Whose a task is, tasks.ts knows.

import type { Calls, Question } from "../calls/call.ts";
import { exposingUris } from "../calls/exposed-uris.ts";
import type { Group } from "../catalog/group.ts";
import { HubError } from "../errors.ts";
import { keepOpen } from "../servers/announcements.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { toAbortSignal } from "../wire/cancellation.ts";
import { arrayOf, editMember } from "../wire/edit.ts";
import { isObject } from "../wire/json.ts";
import { failure, rawParams, RPC, type Raw, type RawParams, type Reply } from "../wire/jsonrpc.ts";
import type { Exchange } from "../wire/server.ts";
import { introductions, offersTasks } from "./announced.ts";
import { within } from "./patience.ts";
import { stamped } from "./subscription.ts";
import { TASKS_EXTENSION, withTaskId, type Task, type Tasks } from "./tasks.ts";
import type { Granted } from "./watchers.ts";

export interface TaskRequestsOptions {
  readonly tasks: Tasks;
  readonly calls: Calls;
  readonly supervisor: Supervisor;
}

/** What every request has that is forwarded to this server. */
type QuestionFor = (server: string) => Question;

/** `tasks/result` is answered when the task is done. */
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
  async forward(exchange: Exchange, group: Group, questionFor: QuestionFor): Promise<Reply> {
    const refusal = this.#refusal(exchange, group);
    if (refusal !== undefined) return refusal;
    const task = this.#options.tasks.resolve(exchange.request.params?.value["taskId"], exchange);
    return this.#ask(task, group, questionFor(task.server));
  }

  /** `tasks/list`: the server's own list has the tasks of all its clients, so each of this one's is asked for. */
  async list(exchange: Exchange, group: Group, questionFor: QuestionFor): Promise<Reply> {
    const refusal = this.#refusal(exchange, group);
    if (refusal !== undefined) return refusal;
    const own = this.#options.tasks.of(exchange).filter(({ server }) => group.servers.includes(server));
    const get = (server: string) => ({ ...questionFor(server), method: "tasks/get", params: rawParams({}) });
    const ask = (task: Task) => this.#ask(task, group, get(task.server)).catch(() => undefined); // forgotten, or its server is down
    const replies = await Promise.all(own.slice(0, MAX_LISTED).map(ask));
    const known = replies.flatMap((reply) => (reply?.ok === true ? [reply.result] : []));
    const tasks = arrayOf(known);
    const bytes = Buffer.concat([Buffer.from('{"tasks":'), tasks.bytes, Buffer.from("}")]);
    return { ok: true, result: { bytes, value: { tasks: tasks.value } } };
  }

  /** The tasks of a `subscriptions/listen`; nothing where it asks for none. Those that it cannot have are left out. */
  grant(exchange: Exchange, group: Group): Promise<Granted> | undefined {
    const wanted = exchange.request.params?.value["notifications"];
    const ids = isObject(wanted) ? wanted["taskIds"] : undefined;
    if (!Array.isArray(ids) || ids.length === 0 || this.#refusal(exchange, group) !== undefined) return undefined;
    const asked = [...new Set(ids)].slice(0, MAX_LISTENED);
    const tasks = asked.flatMap((id) => this.#options.tasks.look(id, exchange) ?? []);
    return this.#listen(
      exchange,
      tasks.filter(({ server }) => group.servers.includes(server)),
    );
  }

  async #listen(exchange: Exchange, tasks: readonly Task[]): Promise<Granted> {
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, toAbortSignal(exchange.signal)]);
    const early: RawParams[] = [];
    let tell = (params: RawParams): unknown => early.push(params);
    const honoured: string[] = [];
    const onOpen = (ids: readonly string[]) => void honoured.push(...ids);
    const opening = [...new Set(tasks.map(({ server }) => server))].map((server) => {
      const own = tasks.filter((task) => task.server === server);
      return this.#listenTo(server, own, { signal, onOpen, onTask: (params) => void tell(params) });
    });
    await within(Promise.all(opening), { ms: ACKNOWLEDGE_MS, signal });
    const notify = (params: RawParams) => exchange.notify("notifications/tasks", stamped(params, exchange.request.id));
    return {
      notifications: honoured.length === 0 ? {} : { taskIds: [...honoured] },
      begin: () => {
        tell = notify;
        early.forEach(notify);
      },
      end: () => ended.abort(),
    };
  }

  /** Resolves when the server has acknowledged it, or will not. */
  #listenTo(server: string, tasks: readonly Task[], { signal, onOpen, onTask }: TaskListener): Promise<void> {
    return new Promise((resolve) => {
      let isOpen = false;
      const onNotification = (method: string, params: Raw) => {
        if (method === "notifications/subscriptions/acknowledged" && !isOpen) {
          isOpen = true;
          onOpen(honouredIds(params.value, tasks));
          resolve();
        }
        const task = isObject(params.value) ? this.#options.tasks.find(server, params.value["taskId"]) : undefined;
        if (method !== "notifications/tasks" || task === undefined || !tasks.includes(task)) return;
        const { bytes, value } = withTaskId(params, task);
        if (isObject(value)) onTask(rawParams(value, bytes));
      };
      const params = rawParams({ notifications: { taskIds: tasks.map(({ taskId }) => taskId) } });
      const listen = async () => {
        await this.#options.supervisor.answering(server).listen({ params, signal, onNotification });
        return isOpen; // what was never acknowledged was refused
      };
      void keepOpen(listen, signal).then(resolve);
    });
  }

  async #ask(task: Task, group: Group, question: Question): Promise<Reply> {
    if (!group.servers.includes(task.server)) throw new HubError("ToolNotFound", "Task not found", { field: "taskId" });
    const timeoutMs = question.method === "tasks/result" ? { timeoutMs: RESULT_MS } : {};
    const ask = { ...question, ...timeoutMs, replace: { taskId: task.taskId } };
    const reply = await this.#options.calls.ask(task.server, ask);
    if (!reply.ok) return reply;
    const exposing = exposingUris(group.rewrittenUris(task.server));
    const answer = withTaskId(reply.result, task);
    // What became of the call is the answer itself, or stands in it.
    const whole = exposing(answer) ?? answer;
    return { ok: true, result: editMember(whole, "result", exposing) ?? whole };
  }

  /** Why this client cannot ask about tasks here at all. */
  #refusal({ era, request, capabilities }: Exchange, group: Group): Reply | undefined {
    const { supervisor } = this.#options;
    if (!introductions(group, supervisor).some((server) => server.era === era && offersTasks(server))) {
      return failure({ code: RPC.methodNotFound, message: `There is no method ${request.method} here` });
    }
    const { extensions } = capabilities;
    if (era === "legacy" || (isObject(extensions) && Object.hasOwn(extensions, TASKS_EXTENSION))) return undefined;
    const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
    return failure({ code: RPC.missingClientCapability, message: `The client must declare ${TASKS_EXTENSION}`, data });
  }
}

interface TaskListener {
  readonly signal: AbortSignal;
  /** With the ids that the server takes, as clients know them. */
  readonly onOpen: (ids: readonly string[]) => void;
  readonly onTask: (params: RawParams) => void;
}

function honouredIds(acknowledged: unknown, tasks: readonly Task[]): string[] {
  const notifications = isObject(acknowledged) ? acknowledged["notifications"] : undefined;
  const ids: unknown = isObject(notifications) ? notifications["taskIds"] : undefined;
  return Array.isArray(ids) ? tasks.filter(({ taskId }) => ids.includes(taskId)).map(({ id }) => id) : [];
}

/** A task where the client knows none: it made no sense to it, and nobody would ever ask for the result. */
export function foreignTask(result: Raw, { era }: Exchange): Reply | undefined {
  const isTask = era === "legacy" && isObject(result.value) && result.value["resultType"] === "task";
  if (!isTask) return undefined;
  return failure({
    code: RPC.internalError,
    message: "The server made a task of this call, in a form that this client's revision does not have",
  });
}
