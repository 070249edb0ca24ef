// The tasks that servers made of the calls of a group's clients: which server has a task, and who may ask for it. Clients
// know a task by an id of the hub's own, since two servers may use the same; what is done with tasks is left to
// task-requests.ts.

import { randomUUID } from "node:crypto";
import { HubError } from "../errors.ts";
import { editMember, type Edit } from "../wire/edit.ts";
import type { Era } from "../wire/era.ts";
import { isObject } from "../wire/json.ts";
import { raw, type Raw } from "../wire/jsonrpc.ts";
import type { Exchange, Session } from "../wire/server.ts";
import { principalOf } from "./principal.ts";

/** The extension of the modern era. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

export interface Task {
  /** As clients know it. */
  readonly id: string;
  readonly server: string;
  /** As the server knows it. */
  readonly taskId: string;
  readonly era: Era;
  readonly principal: string;
  /** Whoever made it hears of it, where it has a session. */
  readonly session: Session | undefined;
}

const MAX_TASKS = 10_000;
const RELATED_TASK = "io.modelcontextprotocol/related-task";

export class Tasks {
  /** The oldest first. */
  readonly #byId = new Map<string, Task>();
  readonly #byOrigin = new Map<string, Task>();

  /** What a call gave back, if that is a task; the same result if it is none. */
  adopt(result: Raw, exchange: Exchange, server: string): Raw {
    const taskId = createdTask(result, exchange);
    return taskId === undefined ? result : withTaskId(result, this.#add(exchange, server, taskId));
  }

  /** The task that a request names; «Task not found» also where it is somebody else's. */
  resolve(id: unknown, exchange: Exchange): Task {
    const task = typeof id === "string" ? this.#byId.get(id) : undefined;
    if (task !== undefined && isFor(task, exchange)) return task;
    throw new HubError("ToolNotFound", "Task not found", { field: "taskId" });
  }

  /** The tasks of whoever asks, the newest first. */
  of(exchange: Exchange): Task[] {
    return [...this.#byId.values()].filter((task) => isFor(task, exchange)).toReversed();
  }

  /** The task that a server speaks of. */
  find(server: string, taskId: unknown): Task | undefined {
    return typeof taskId === "string" ? this.#byOrigin.get(origin(server, taskId)) : undefined;
  }

  #add(exchange: Exchange, server: string, taskId: string): Task {
    const { era, session } = exchange;
    const task = { id: randomUUID(), server, taskId, era, principal: principalOf(exchange), session };
    this.#byId.set(task.id, task);
    this.#byOrigin.set(origin(server, taskId), task);
    const [oldest] = this.#byId.values();
    if (this.#byId.size > MAX_TASKS && oldest !== undefined) this.#remove(oldest);
    return task;
  }

  #remove(task: Task): void {
    this.#byId.delete(task.id);
    const key = origin(task.server, task.taskId);
    if (this.#byOrigin.get(key) === task) this.#byOrigin.delete(key);
  }
}

/** What a server says about a task, with the id that clients know. */
export function withTaskId(said: Raw, { id, taskId }: Task): Raw {
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

/** The eras have different ideas of a task, so one is only for clients of the era that it was made in. */
function isFor({ era, principal }: Task, exchange: Exchange): boolean {
  return era === exchange.era && principal === principalOf(exchange);
}

function origin(server: string, taskId: string): string {
  return `${server}/${taskId}`;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
