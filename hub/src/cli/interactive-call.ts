// A tool call as an MCP client makes it, so that its progress is seen, the server can ask the person at the terminal, and
// Ctrl-C cancels it. The management API can do none of that.

import type { Readable, Writable } from "node:stream";
import { toCallResult } from "../api/call-result.ts";
import { HubError, toHubError } from "../errors.ts";
import { ERROR_META } from "../mcp/failure.ts";
import { VERSION } from "../version.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import {
  failure,
  readMessage,
  RPC,
  success,
  writeNotification,
  writeReply,
  writeRequest,
  type Raw,
  type RawParams,
  type Reply,
  type RequestMessage,
} from "../wire/jsonrpc.ts";
import { LineReader } from "../wire/lines.ts";
import { canAsk } from "./ask.ts";
import { answerElicitation, declined } from "./elicitation.ts";
import { fromBody, type ReceivedError } from "./error-body.ts";
import { Interrupted } from "./interrupted.ts";
import type { GlobalOptions, Io } from "./io.ts";
import type { Output } from "./output.ts";
import { ERASE_LINE, waiting } from "./waiting.ts";

/** A group's endpoint as a pipe: one message a line. */
export interface Pipe {
  readonly input: Writable;
  readonly output: Readable;
  close(): Promise<void>;
}

export interface InteractiveCall {
  /** As the group knows it. */
  readonly tool: string;
  /** As the user typed it. */
  readonly shown: string;
  readonly args: RawParams;
  readonly timeoutMs: number | undefined;
}

const PROTOCOL_VERSION = "2025-11-25";
/** The hub itself takes no larger answer. */
const MAX_LINE_BYTES = 64 << 20;
const INITIALIZE_ID = 1;
const CALL_ID = 2;

/** The result in the shape that the management API has. */
export async function callInteractively(
  io: Io,
  { out, options, pipe }: { out: Output; options: GlobalOptions; pipe: Pipe },
  call: InteractiveCall,
): Promise<Raw> {
  const conversation = new Conversation(io, { out, options, pipe }, call.shown);
  const startedAt = performance.now();
  const timer = call.timeoutMs === undefined ? undefined : setTimeout(() => conversation.timeOut(), call.timeoutMs);
  io.onSignal(() => conversation.interrupt());
  try {
    const reply = await waiting(io, out, () => conversation.label(), conversation.run(call));
    const bytes = toCallResult({ reply: withoutHubErrors(reply), durationMs: performance.now() - startedAt });
    return { bytes, value: JSON.parse(bytes.toString()) };
  } finally {
    clearTimeout(timer);
    await pipe.close();
  }
}

class Conversation {
  readonly #io: Io;
  readonly #out: Output;
  readonly #pipe: Pipe;
  readonly #asker: string;
  readonly #canAsk: boolean;
  readonly #answers = new Map<unknown, (reply: Reply) => void>();
  /** What the user is being asked, by the id of the question. */
  readonly #questions = new Map<unknown, AbortController>();
  /** One question at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  #progress = "";
  #fail: (error: HubError) => void = () => undefined;
  readonly #failed: Promise<never>;

  constructor(io: Io, { out, options, pipe }: { out: Output; options: GlobalOptions; pipe: Pipe }, asker: string) {
    this.#io = io;
    this.#out = out;
    this.#pipe = pipe;
    this.#asker = asker;
    this.#canAsk = canAsk(io, options);
    this.#failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.#failed.catch(() => undefined); // whoever waits for an answer hears of it
    const gone = () => this.#fail(new HubError("ConnectionFailed", "The hub has gone", { hint: "plugboard start" }));
    const lines = new LineReader({
      maxBytes: MAX_LINE_BYTES,
      onLine: (line) => this.#receive(line),
      onOverflow: () => this.#fail(new HubError("PayloadTooLarge", "The answer is too large to be shown")),
    });
    pipe.output.on("data", (chunk: Buffer) => lines.push(chunk));
    pipe.output.once("end", gone).once("error", gone);
  }

  async run({ tool, args }: InteractiveCall): Promise<Reply> {
    const hello = await this.#request(INITIALIZE_ID, "initialize", {
      protocolVersion: PROTOCOL_VERSION,
      capabilities: { elicitation: { form: {}, url: {} } },
      clientInfo: { name: "cli", title: "plugboard call", version: VERSION },
    });
    if (!hello.ok) return hello;
    this.#send(writeNotification("notifications/initialized", undefined));
    // The arguments as they were typed, on one line: outside of strings a line break means nothing.
    const typed = args.bytes.toString().replaceAll(/[\r\n]/g, " ");
    const head = `{"name":${JSON.stringify(tool)},"_meta":{"progressToken":${CALL_ID}},"arguments":`;
    return this.#request(CALL_ID, "tools/call", Buffer.from(`${head}${typed}}`));
  }

  /** What is shown while the user waits; nothing while he is asked. */
  label(): string | undefined {
    if (this.#questions.size > 0) return undefined;
    return this.#progress === "" ? `calling ${this.#asker}` : this.#progress;
  }

  /** `error` where a question was interrupted, and the user has been told. */
  interrupt(error?: Interrupted): void {
    if (error === undefined) this.#io.stderr.write(this.#questions.size === 0 ? ERASE_LINE : "\n");
    this.#cancel("The user cancelled it", error ?? new Interrupted(this.#io));
  }

  timeOut(): void {
    const error = new HubError("Timeout", "The tool did not answer in time", {
      hint: "Give it more time: --timeout 60s",
    });
    this.#cancel("It took too long", error);
  }

  #cancel(reason: string, error: HubError): void {
    this.#send(
      writeNotification("notifications/cancelled", Buffer.from(JSON.stringify({ requestId: CALL_ID, reason }))),
    );
    for (const question of this.#questions.values()) question.abort();
    this.#fail(error);
  }

  #request(id: number, method: string, params: JsonObject | Buffer): Promise<Reply> {
    const bytes = Buffer.isBuffer(params) ? params : Buffer.from(JSON.stringify(params));
    const answer = new Promise<Reply>((resolve) => this.#answers.set(id, resolve));
    this.#send(writeRequest(id, method, bytes));
    return Promise.race([answer, this.#failed]);
  }

  #send(message: Buffer): void {
    this.#pipe.input.write(Buffer.concat([message, Buffer.from("\n")]));
  }

  #receive(line: Buffer): void {
    const message = readMessage(line);
    if (message.kind === "response") this.#answers.get(message.id)?.(message.reply);
    else if (message.kind === "request") void this.#answer(message);
    else if (message.kind === "notification") this.#hear(message.method, message.params?.value ?? {});
  }

  #hear(method: string, params: JsonObject): void {
    if (method === "notifications/progress") this.#progress = describeProgress(params);
    else if (method === "notifications/cancelled") this.#questions.get(params["requestId"])?.abort();
  }

  async #answer({ id, method, params }: RequestMessage): Promise<void> {
    if (method === "ping") return this.#send(writeReply(id, success({})));
    if (method !== "elicitation/create") {
      const error = { code: RPC.methodNotFound, message: `plugboard call cannot answer ${method}` };
      return this.#send(writeReply(id, failure(error)));
    }
    const question = { asker: this.#asker, params: params?.value ?? {} };
    const stop = new AbortController();
    this.#questions.set(id, stop);
    this.#io.stderr.write(ERASE_LINE);
    try {
      if (!this.#canAsk) {
        this.#out.note(
          declined(question, "there is nobody to ask, since stdin is not a terminal or --no-input was given"),
        );
        return this.#send(writeReply(id, success({ action: "decline" })));
      }
      const asked = this.#turn.then(() => answerElicitation(this.#io, { ...question, signal: stop.signal }));
      this.#turn = asked.catch(() => undefined); // the next one is asked all the same
      this.#send(writeReply(id, success(await asked)));
    } catch (error) {
      if (error instanceof Interrupted) this.interrupt(error);
      else this.#fail(toHubError(error));
    } finally {
      this.#questions.delete(id);
    }
  }
}

/** @example describeProgress({ progress: 1, total: 5 }) // "1 of 5" */
export function describeProgress({ progress, total, message }: JsonObject): string {
  const done =
    typeof progress !== "number" ? "" : typeof total === "number" ? `${progress} of ${total}` : `${progress}`;
  return [done, typeof message === "string" ? message : ""].filter((part) => part !== "").join("  ");
}

/** What went wrong in the hub and not in the server, as the error that it was. */
function withoutHubErrors(reply: Reply): Reply {
  const { value } = reply.ok ? reply.result : reply.error;
  const meta = reply.ok && isObject(value) && isObject(value["_meta"]) ? value["_meta"][ERROR_META] : undefined;
  const body = reply.ok ? meta : isObject(value) ? value["data"] : undefined;
  if (isHubError(body)) throw fromBody(body);
  return reply;
}

function isHubError(body: unknown): body is ReceivedError {
  return isObject(body) && typeof body["kind"] === "string" && typeof body["code"] === "string";
}
