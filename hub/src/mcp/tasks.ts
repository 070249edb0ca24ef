// The tasks that servers made of the calls of a group's clients: who may ask for one, and who hears of it. Clients know a
// task by an id of the hub's own (task-ids.ts), since two servers may use the same; what is done with tasks is left to
// task-requests.ts.

import { HubError } from "../errors.ts";
import { editMember, type Edit } from "../wire/edit.ts";
import { editObject, isObject } from "../wire/json.ts";
import { failure, raw, RPC, type NotificationMessage, type Raw, type Reply } from "../wire/jsonrpc.ts";
import { RELATED_TASK, relatedTask } from "../wire/related-task.ts";
import type { Exchange, Session } from "../wire/server.ts";
import { passesLevel } from "./log-level.ts";
import { principalOf } from "./principal.ts";
import { TaskIds, type TaskOrigin, type TaskOwner } from "./task-ids.ts";

/** The extension of the modern era. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

export interface Task extends TaskOrigin, TaskOwner {
  /** As clients know it. */
  readonly id: string;
  /** Whoever made it hears of it, where it has a session. */
  readonly session: Session | undefined;
  /** Of the request that made it: good for as long as the task is. */
  readonly progressToken: string | number | undefined;
}

const MAX_TASKS = 10_000;

export class Tasks {
  readonly #ids: TaskIds;
  /** Those that were made, or asked for, since the hub started: the oldest first. */
  readonly #byId = new Map<string, Task>();
  readonly #byOrigin = new Map<string, Task>();

  constructor(ids: TaskIds = new TaskIds()) {
    this.#ids = ids;
  }

  /** What a call gave back, if that is a task; the same result if it is none. */
  adopt(result: Raw, exchange: Exchange, server: string): Raw {
    const taskId = createdTask(result, exchange);
    return taskId === undefined ? result : withTaskId(result, this.#add({ server, taskId }, exchange));
  }

  /** The task that a request names; «Task not found» also where it is somebody else's. */
  resolve(id: unknown, exchange: Exchange): Task {
    const task = this.look(id, exchange);
    if (task !== undefined) return task;
    throw new HubError("ToolNotFound", "Task not found", { field: "taskId" });
  }

  look(id: unknown, exchange: Exchange): Task | undefined {
    const owner = ownerOf(exchange);
    const origin = this.#ids.open(id, owner);
    if (origin === undefined) return undefined;
    const known = this.find(origin.server, origin.taskId) ?? this.#add(origin, exchange);
    // A server that began to count anew has given it to somebody else since.
    return isOf(known, owner) ? known : undefined;
  }

  /** The tasks of whoever asks, the newest first. */
  of(exchange: Exchange): Task[] {
    const owner = ownerOf(exchange);
    return [...this.#byId.values()].filter((task) => isOf(task, owner)).toReversed();
  }

  /** The task that a server speaks of. */
  find(server: string, taskId: unknown): Task | undefined {
    return typeof taskId === "string" ? this.#byOrigin.get(originKey({ server, taskId })) : undefined;
  }

  /** What a server says to a client, in the client's words; undefined where it is about a task that is not this client's. */
  heard(said: Raw, exchange: Exchange, server: string): Raw | undefined {
    const taskId = relatedTask(said.value);
    if (taskId === undefined) return said;
    const task = this.find(server, taskId);
    return task !== undefined && isOf(task, ownerOf(exchange)) ? withTaskId(said, task) : undefined;
  }

  /** What the client answers, in the words of the server. */
  said(answer: Raw, exchange: Exchange): Raw {
    const id = relatedTask(answer.value);
    const task = id === undefined ? undefined : this.look(id, exchange);
    return task === undefined ? answer : withTaskId(answer, { id: task.taskId, taskId: String(id) });
  }

  /** What a legacy server tells of a task outside of any request, for the client that made it. */
  tell(server: string, { method, params }: NotificationMessage): void {
    const task = this.find(server, params?.value["taskId"] ?? relatedTask(params?.value));
    if (params === undefined || task?.session === undefined) return;
    if (method === "notifications/message" && !passesLevel(params.value, task.session.logLevel)) return;
    const told = withTaskId(params, task);
    if (method !== "notifications/progress") return task.session.notify(method, told);
    const { progressToken } = task;
    if (progressToken === undefined || !isObject(told.value)) return;
    const bytes = editObject(told.bytes, { progressToken: JSON.stringify(progressToken) });
    task.session.notify(method, { bytes, value: { ...told.value, progressToken } });
  }

  #add(origin: TaskOrigin, exchange: Exchange): Task {
    const { session, request } = exchange;
    const owner = ownerOf(exchange);
    const meta = request.params?.value["_meta"];
    const token = isObject(meta) ? meta["progressToken"] : undefined;
    const progressToken = typeof token === "string" || typeof token === "number" ? token : undefined;
    const task = { ...origin, ...owner, id: this.#ids.seal(origin, owner), session, progressToken };
    this.#byId.set(task.id, task);
    this.#byOrigin.set(originKey(task), task);
    const [oldest] = this.#byId.values();
    if (this.#byId.size > MAX_TASKS && oldest !== undefined) this.#remove(oldest);
    return task;
  }

  #remove(task: Task): void {
    this.#byId.delete(task.id);
    const key = originKey(task);
    if (this.#byOrigin.get(key) === task) this.#byOrigin.delete(key);
  }
}

/** What a server says about a task, with the id that clients know. */
export function withTaskId(said: Raw, { id, taskId }: Pick<Task, "id" | "taskId">): Raw {
  const toId: Edit = ({ value }) => (value === taskId ? raw(id) : undefined);
  const inObject: Edit = (object) => editMember(object, "taskId", toId);
  const edits: readonly Edit[] = [
    inObject,
    (object) => editMember(object, "task", inObject),
    (object) => editMember(object, "_meta", (meta) => editMember(meta, RELATED_TASK, inObject)),
  ];
  return edits.reduce((edited, edit) => edit(edited) ?? edited, said);
}

/** A modern server says that its result is a task; a legacy one makes one only for a caller that asks for it. */
function createdTask({ value }: Raw, { era, request }: Exchange): string | undefined {
  if (!isObject(value)) return undefined;
  if (era === "modern") return value["resultType"] === "task" ? text(value["taskId"]) : undefined;
  const { task } = value;
  return isObject(request.params?.value["task"]) && isObject(task) ? text(task["taskId"]) : undefined;
}

/** The answer to a question for a task of somebody else, or of nobody. */
export function notTheirs(method: string): Reply {
  const message = `${method} belongs to a task, and this request to another client than that`;
  return failure({ code: RPC.invalidRequest, message });
}

/** The eras have different ideas of a task, so one is only for clients of the era that it was made in. */
function ownerOf(exchange: Exchange): TaskOwner {
  return { era: exchange.era, principal: principalOf(exchange) };
}

function isOf(task: Task, { era, principal }: TaskOwner): boolean {
  return task.era === era && task.principal === principal;
}

function originKey({ server, taskId }: TaskOrigin): string {
  return `${server}/${taskId}`;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
