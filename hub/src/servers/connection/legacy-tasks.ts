// Calls tools of legacy servers that support only task calls, for callers without tasks: the hub creates the task, waits for its
// result, and cancels it when the caller leaves. Nothing that the caller gets mentions the task.

import { HubError, toHubError } from "../../errors.ts";
import type { Era } from "../../protocol/revisions/era.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import {
  rawParams,
  type NotificationMessage,
  type Raw,
  type RawParams,
  type Reply,
  type RequestMessage,
} from "../../protocol/rpc/jsonrpc.ts";
import type { OpenServerRequest } from "../../protocol/connect/pending-request.ts";
import { relatedTask, withoutRelatedTask, withRelatedTask } from "../../protocol/rpc/related-task.ts";
import type { ClientResponder } from "./client-responder.ts";
import type { ForwardRequest } from "./upstream.ts";

/** Default time limit: tools that run as tasks take long. */
const TASK_MS = 600_000;

type Send = (request: ForwardRequest) => Promise<Reply>;

export class LegacyTasks {
  /** By task: receives notifications outside of any request. */
  readonly #open = new Map<string, (message: NotificationMessage) => void>();

  /** The server's request timeout, if it is longer. */
  readonly #requestMs: number;

  constructor(requestMs: number) {
    this.#requestMs = requestMs;
  }

  /** Whether the tool can only be called as a task, and the request is not one. */
  static needs({ method, tool, params }: ForwardRequest): boolean {
    if (method !== "tools/call" || tool === undefined) return false;
    const { execution } = tool;
    return isObject(execution) && execution["taskSupport"] === "required" && params?.value["task"] === undefined;
  }

  async call(request: ForwardRequest, send: Send): Promise<Reply> {
    const startedAt = performance.now();
    const created = await send({ ...request, replace: { ...request.replace, task: {} } });
    const taskId = created.ok ? taskIn(created.result.value) : undefined;
    if (taskId === undefined) return created;
    this.#open.set(taskId, ({ method, params }) => request.onNotification?.(method, toCaller(params, request)));
    try {
      return await this.#result(taskId, { ...request, leftMs: this.#leftMs(request, startedAt) }, send);
    } catch (thrown) {
      // If the server has stopped, so has the task.
      void send({ method: "tasks/cancel", params: rawParams({ taskId }) }).catch(() => undefined);
      throw toAmbiguous(toHubError(thrown));
    } finally {
      this.#open.delete(taskId);
    }
  }

  /** Whether a notification is about one of these tasks. */
  notify(message: NotificationMessage): boolean {
    const notify = this.#open.get(relatedTask(message.params?.value) ?? "");
    notify?.(message);
    return notify !== undefined;
  }

  /** A limit that the caller sets holds for the task too. The server's own limit for a request does not. */
  #leftMs({ timeoutMs, leftMs = timeoutMs }: ForwardRequest, startedAt: number): number {
    if (timeoutMs === undefined || leftMs === undefined) return Math.max(TASK_MS, this.#requestMs);
    return leftMs === 0 ? 0 : Math.max(1, leftMs - (performance.now() - startedAt));
  }

  async #result(taskId: string, request: ForwardRequest, send: Send): Promise<Reply> {
    const { responder, signal, leftMs } = request;
    const reply = await send({
      method: "tasks/result",
      params: rawParams({ taskId }),
      ...(leftMs === undefined ? {} : { leftMs }),
      ...(signal === undefined ? {} : { signal }),
      ...(responder === undefined ? {} : { responder: new TaskFreeResponder(responder) }),
      onNotification: (method, params) => request.onNotification?.(method, withoutRelatedTask(params)),
    });
    return reply.ok ? { ok: true, result: withoutRelatedTask(reply.result) } : reply;
  }
}

/** Answers requests of a task for a client that does not know about the task. */
class TaskFreeResponder implements ClientResponder {
  readonly #client: ClientResponder;

  constructor(client: ClientResponder) {
    this.#client = client;
  }

  get capabilities(): JsonObject {
    return this.#client.capabilities;
  }

  get wasAsked(): boolean {
    return this.#client.wasAsked;
  }

  get askedMs(): number {
    return this.#client.askedMs;
  }

  caller(): string | undefined {
    return this.#client.caller();
  }

  sentIn(era: Era): void {
    this.#client.sentIn?.(era);
  }

  async answer(message: RequestMessage, open: OpenServerRequest): Promise<Reply> {
    const { params } = message;
    const taskId = relatedTask(params?.value);
    if (params === undefined || taskId === undefined) return this.#client.answer(message, open);
    const reply = await this.#client.answer({ ...message, params: plain(params) }, open);
    return reply.ok ? { ok: true, result: withRelatedTask(reply.result, taskId) } : reply;
  }

  completed(params: Raw): void {
    this.#client.completed(params);
  }
}

function taskIn(result: unknown): string | undefined {
  const task = isObject(result) ? result["task"] : undefined;
  const taskId = isObject(task) ? task["taskId"] : undefined;
  return typeof taskId === "string" ? taskId : undefined;
}

function plain(params: RawParams): RawParams {
  const { bytes, value } = withoutRelatedTask(params);
  return isObject(value) ? rawParams(value, bytes) : params;
}

/** With the progress token of the request that made the task. */
function toCaller(params: RawParams | undefined, { params: requested }: ForwardRequest): Raw {
  const meta = requested?.value["_meta"];
  const token = isObject(meta) ? meta["progressToken"] : undefined;
  const taskParams = params === undefined ? rawParams({}) : plain(params);
  return taskParams.value["progressToken"] === undefined
    ? taskParams
    : rawParams({ ...taskParams.value, progressToken: token });
}

/** The task exists already: a retry would create another one. */
function toAmbiguous(error: HubError): HubError {
  const { kind, message, detail, hint } = error;
  const about = { ...(detail === undefined ? {} : { detail }), ...(hint === undefined ? {} : { hint }) };
  return new HubError(kind, message, { ...about, delivery: "unknown", cause: error });
}
