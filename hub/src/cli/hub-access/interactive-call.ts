// Calls a tool as an MCP client, which the REST API cannot: with progress, elicitation at the terminal, and cancellation by
// Ctrl-C.

import type { Readable, Writable } from "node:stream";
import { toCallResult } from "../../api/server/call-result.ts";
import { HubError, toHubError } from "../../errors.ts";
import { ERROR_META } from "../../mcp/errors.ts";
import { VERSION } from "../../version.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
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
} from "../../protocol/rpc/jsonrpc.ts";
import { LineReader } from "../../lib/streams/lines.ts";
import { canAsk } from "../terminal/ask.ts";
import { answerElicitation, declined } from "../terminal/elicitation.ts";
import { fromBody, type ReceivedError } from "../input/error-body.ts";
import { Interrupted } from "../interrupted.ts";
import type { GlobalOptions, Io } from "../io.ts";
import type { Output } from "../terminal/output.ts";
import { ERASE_LINE, waiting } from "../terminal/spinner.ts";

/** A group's endpoint as a pipe, one message per line. */
export interface Pipe {
  readonly input: Writable;
  readonly output: Readable;
  close(): Promise<void>;
}

export interface InteractiveCall {
  /** Exposed name in the group. */
  readonly tool: string;
  /** Name that the user typed. */
  readonly shown: string;
  readonly args: RawParams;
  readonly timeoutMs: number | undefined;
}

const PROTOCOL_VERSION = "2025-11-25";
/** Same limit as in the hub. */
const MAX_LINE_BYTES = 64 << 20;
const INITIALIZE_ID = 1;
const CALL_ID = 2;

/** Returns the result in the shape of the management API. */
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
  readonly #server: string;
  readonly #canAsk: boolean;
  readonly #answers = new Map<unknown, (reply: Reply) => void>();
  /** Open questions to the user, by request id. */
  readonly #questions = new Map<unknown, AbortController>();
  /** Serializes questions. */
  #turn: Promise<unknown> = Promise.resolve();
  #progress = "";
  #fail: (error: HubError) => void = () => undefined;
  readonly #failed: Promise<never>;

  constructor(io: Io, { out, options, pipe }: { out: Output; options: GlobalOptions; pipe: Pipe }, server: string) {
    this.#io = io;
    this.#out = out;
    this.#pipe = pipe;
    this.#server = server;
    this.#canAsk = canAsk(io, options);
    this.#failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.#failed.catch(() => undefined); // reported to the caller that awaits an answer
    const onDisconnect = () =>
      this.#fail(new HubError("ConnectionFailed", "Lost the connection to the hub", { hint: "plugboard start" }));
    const lines = new LineReader({
      maxBytes: MAX_LINE_BYTES,
      onLine: (line) => this.#receive(line),
      onOverflow: () => this.#fail(new HubError("PayloadTooLarge", "The answer is too large")),
    });
    pipe.output.on("data", (chunk: Buffer) => lines.push(chunk));
    pipe.output.once("end", onDisconnect).once("error", onDisconnect);
  }

  async run({ tool, args }: InteractiveCall): Promise<Reply> {
    const hello = await this.#request(INITIALIZE_ID, "initialize", {
      protocolVersion: PROTOCOL_VERSION,
      capabilities: { elicitation: { form: {}, url: {} } },
      clientInfo: { name: "cli", title: "plugboard call", version: VERSION },
    });
    if (!hello.ok) return hello;
    this.#send(writeNotification("notifications/initialized", undefined));
    // The arguments as typed, on one line: line breaks outside of strings mean nothing in JSON.
    const typed = args.bytes.toString().replaceAll(/[\r\n]/g, " ");
    const head = `{"name":${JSON.stringify(tool)},"_meta":{"progressToken":${CALL_ID}},"arguments":`;
    return this.#request(CALL_ID, "tools/call", Buffer.from(`${head}${typed}}`));
  }

  /** The spinner's label; undefined while the user is being asked. */
  label(): string | undefined {
    if (this.#questions.size > 0) return undefined;
    return this.#progress === "" ? `calling ${this.#server}` : this.#progress;
  }

  /** `error`: a question was interrupted, which the user has seen. */
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
    const question = { server: this.#server, params: params?.value ?? {} };
    const stop = new AbortController();
    this.#questions.set(id, stop);
    this.#io.stderr.write(ERASE_LINE);
    try {
      if (!this.#canAsk) {
        this.#out.note(declined(question, "stdin is not a terminal, or --no-input was given"));
        return this.#send(writeReply(id, success({ action: "decline" })));
      }
      const asked = this.#turn.then(() => answerElicitation(this.#io, { ...question, signal: stop.signal }));
      this.#turn = asked.catch(() => undefined); // a failed question does not block the next one
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

/** An error of the hub, not of the server, as a HubError. */
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
