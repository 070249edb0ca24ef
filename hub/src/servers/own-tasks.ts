// Tools of legacy servers that can only be called as tasks, for callers that know nothing of tasks: the hub makes the task,
// waits for its result, and takes it back when nobody waits any more. What is said of it has no sign of it.

import { HubError, toHubError } from "../errors.ts";
import type { Era } from "../wire/era.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import {
  rawParams,
  type NotificationMessage,
  type Raw,
  type RawParams,
  type Reply,
  type RequestMessage,
} from "../wire/jsonrpc.ts";
import type { OpenInquiry } from "../wire/peer.ts";
import { relatedTask, withoutRelatedTask, withRelatedTask } from "../wire/related-task.ts";
import type { Respondent } from "./respondent.ts";
import type { Ask } from "./upstream.ts";

/** A task is made of what takes long. */
const TASK_MS = 600_000;

type Send = (ask: Ask) => Promise<Reply>;

export class OwnTasks {
  /** Who hears what is said of a task outside of any request. */
  readonly #open = new Map<string, (message: NotificationMessage) => void>();

  /** Whether this can only be asked as a task, and is not. */
  static needs({ method, tool, params }: Ask): boolean {
    if (method !== "tools/call" || tool === undefined) return false;
    const { execution } = tool;
    return isObject(execution) && execution["taskSupport"] === "required" && params?.value["task"] === undefined;
  }

  async ask(ask: Ask, send: Send): Promise<Reply> {
    const created = await send({ ...ask, replace: { ...ask.replace, task: {} } });
    const taskId = created.ok ? taskIn(created.result.value) : undefined;
    if (taskId === undefined) return created;
    this.#open.set(taskId, ({ method, params }) => ask.onNotification?.(method, heard(params, ask)));
    try {
      return await this.#result(taskId, ask, send);
    } catch (thrown) {
      // Where the server is gone, so is the task.
      void send({ method: "tasks/cancel", params: rawParams({ taskId }) }).catch(() => undefined);
      throw begun(toHubError(thrown));
    } finally {
      this.#open.delete(taskId);
    }
  }

  /** Whether a message is about one of these. */
  tell(message: NotificationMessage): boolean {
    const tell = this.#open.get(relatedTask(message.params?.value) ?? "");
    tell?.(message);
    return tell !== undefined;
  }

  async #result(taskId: string, ask: Ask, send: Send): Promise<Reply> {
    const { respondent, signal, timeoutMs = 0 } = ask;
    const reply = await send({
      method: "tasks/result",
      params: rawParams({ taskId }),
      timeoutMs: Math.max(TASK_MS, timeoutMs),
      ...(signal === undefined ? {} : { signal }),
      ...(respondent === undefined ? {} : { respondent: new Unknowing(respondent) }),
      onNotification: (method, params) => ask.onNotification?.(method, withoutRelatedTask(params)),
    });
    return reply.ok ? { ok: true, result: withoutRelatedTask(reply.result) } : reply;
  }
}

/** A client that is asked without hearing that a task wants to know. */
class Unknowing implements Respondent {
  readonly #client: Respondent;

  constructor(client: Respondent) {
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

  async answer(question: RequestMessage, inquiry: OpenInquiry): Promise<Reply> {
    const { params } = question;
    const taskId = relatedTask(params?.value);
    if (params === undefined || taskId === undefined) return this.#client.answer(question, inquiry);
    const reply = await this.#client.answer({ ...question, params: plain(params) }, inquiry);
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

/** The token is the one of the request that made the task, and that has its answer. */
function heard(params: RawParams | undefined, { params: asked }: Ask): Raw {
  const meta = asked?.value["_meta"];
  const token = isObject(meta) ? meta["progressToken"] : undefined;
  const said = params === undefined ? rawParams({}) : plain(params);
  return said.value["progressToken"] === undefined ? said : rawParams({ ...said.value, progressToken: token });
}

/** The task was made, so asking again would make another one. */
function begun(error: HubError): HubError {
  const { kind, message, detail, hint } = error;
  const told = { ...(detail === undefined ? {} : { detail }), ...(hint === undefined ? {} : { hint }) };
  return new HubError(kind, message, { ...told, delivery: "unknown", cause: error });
}
