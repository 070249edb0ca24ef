// The tasks of a group's clients: who owns them, and the translation of their ids. Clients use an id of the hub (task-ids.ts),
// since two servers may use the same id. Requests about tasks are in task-requests.ts.

import { HubError } from "../../errors.ts";
import { editMember, type Edit } from "../../protocol/rpc/json-edit.ts";
import { editObject, isObject } from "../../lib/json/json.ts";
import { failure, raw, RPC, type NotificationMessage, type Raw, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import { passesLevel } from "../../protocol/rpc/log-level.ts";
import { RELATED_TASK, relatedTask } from "../../protocol/rpc/related-task.ts";
import type { IncomingRequest, Session } from "../../protocol/serve/service.ts";
import { ownerOf } from "../principal.ts";
import { TaskIds, type TaskOrigin, type TaskOwner } from "./task-ids.ts";

/** The extension of the modern era. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

export interface Task extends TaskOrigin, TaskOwner {
  /** The id that clients use. */
  readonly id: string;
  /** The session that gets its notifications, if it was made in one. */
  readonly session: Session | undefined;
  /** Of the request that made it; valid as long as the task. */
  readonly progressToken: string | number | undefined;
}

const MAX_TASKS = 10_000;

export class Tasks {
  readonly #ids: TaskIds;
  /** Tasks that were made or used since the hub started, oldest first. */
  readonly #byId = new Map<string, Task>();
  readonly #byOrigin = new Map<string, Task>();

  constructor(ids: TaskIds = new TaskIds()) {
    this.#ids = ids;
  }

  /** Registers the task in a call's result and replaces its id. Any other result is returned unchanged. */
  adopt(result: Raw, incoming: IncomingRequest, server: string): Raw {
    const taskId = createdTask(result, incoming);
    return taskId === undefined ? result : withTaskId(result, this.#add({ server, taskId }, incoming));
  }

  /** The task that a client names. Throws «Task not found», also if it belongs to another owner. */
  resolve(id: unknown, incoming: IncomingRequest): Task {
    const task = this.findFor(id, incoming);
    if (task !== undefined) return task;
    throw new HubError("ToolNotFound", "Task not found", { field: "taskId" });
  }

  findFor(id: unknown, incoming: IncomingRequest): Task | undefined {
    const owner = taskOwnerOf(incoming);
    const origin = this.#ids.open(id, owner);
    if (origin === undefined) return undefined;
    const known = this.find(origin.server, origin.taskId) ?? this.#add(origin, incoming);
    // A restarted server may reuse an id for another owner's task.
    return isOf(known, owner) ? known : undefined;
  }

  /** The tasks of the request's owner, newest first. */
  listFor(incoming: IncomingRequest): Task[] {
    const owner = taskOwnerOf(incoming);
    return [...this.#byId.values()].filter((task) => isOf(task, owner)).toReversed();
  }

  /** The task that a server names. */
  find(server: string, taskId: unknown): Task | undefined {
    return typeof taskId === "string" ? this.#byOrigin.get(originKey({ server, taskId })) : undefined;
  }

  /** A server's params with the client's task id; undefined if the related task is not this client's. */
  toClient(params: Raw, incoming: IncomingRequest, server: string): Raw | undefined {
    const taskId = relatedTask(params.value);
    if (taskId === undefined) return params;
    const task = this.find(server, taskId);
    return task !== undefined && isOf(task, taskOwnerOf(incoming)) ? withTaskId(params, task) : undefined;
  }

  /** A client's result with the server's task id. */
  toServer(result: Raw, incoming: IncomingRequest): Raw {
    const id = relatedTask(result.value);
    const task = id === undefined ? undefined : this.findFor(id, incoming);
    return task === undefined ? result : withTaskId(result, { id: task.taskId, taskId: String(id) });
  }

  /** Sends a legacy server's notification about a task, outside of any request, to the session that made the task. */
  notifySession(server: string, { method, params }: NotificationMessage): void {
    const task = this.find(server, params?.value["taskId"] ?? relatedTask(params?.value));
    if (params === undefined || task?.session === undefined) return;
    if (method === "notifications/message" && !passesLevel(params.value, task.session.logLevel)) return;
    const translated = withTaskId(params, task);
    if (method !== "notifications/progress") return task.session.notify(method, translated);
    const { progressToken } = task;
    if (progressToken === undefined || !isObject(translated.value)) return;
    const bytes = editObject(translated.bytes, { progressToken: JSON.stringify(progressToken) });
    task.session.notify(method, { bytes, value: { ...translated.value, progressToken } });
  }

  #add(origin: TaskOrigin, incoming: IncomingRequest): Task {
    const { session, request } = incoming;
    const owner = taskOwnerOf(incoming);
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

/** Replaces the task id in a message, wherever the protocol has it. */
export function withTaskId(message: Raw, { id, taskId }: Pick<Task, "id" | "taskId">): Raw {
  const toId: Edit = ({ value }) => (value === taskId ? raw(id) : undefined);
  const inObject: Edit = (object) => editMember(object, "taskId", toId);
  const edits: readonly Edit[] = [
    inObject,
    (object) => editMember(object, "task", inObject),
    (object) => editMember(object, "_meta", (meta) => editMember(meta, RELATED_TASK, inObject)),
  ];
  return edits.reduce((edited, edit) => edit(edited) ?? edited, message);
}

/** A modern result is marked as a task; a legacy server creates a task only on request. */
function createdTask({ value }: Raw, { era, request }: IncomingRequest): string | undefined {
  if (!isObject(value)) return undefined;
  if (era === "modern") return value["resultType"] === "task" ? text(value["taskId"]) : undefined;
  const { task } = value;
  return isObject(request.params?.value["task"]) && isObject(task) ? text(task["taskId"]) : undefined;
}

/** The error for a server request whose related task does not belong to this client. */
export function wrongTaskOwner(method: string): Reply {
  const message = `${method} names a task that does not belong to the client of this request`;
  return failure({ code: RPC.invalidRequest, message });
}

/** Tasks differ between the eras, so a task is only for clients of the era that it was made in. */
function taskOwnerOf(incoming: IncomingRequest): TaskOwner {
  return { era: incoming.era, principal: ownerOf(incoming) };
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
