// Questions of tools to the user (MCP elicitation). A client of 2026-07-28 gets `input_required` and repeats the request with the
// answer; an older client gets an elicitation request. Either way the tool runs twice: the first run ends with the question, the
// second finds the answer, which is valid only for the same question.

import {
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  SdkError,
  SdkErrorCode,
  type ClientCapabilities,
  type InputRequiredResult,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { z } from "zod";
import { ChatError } from "../errors.ts";
import type { AskUser, UserAnswer } from "../tools/tool.ts";

type McpRequest = ServerContext["mcpReq"];

/** Returned with the answer, signed: a client cannot answer a question that was not asked. */
interface State {
  readonly subject: string;
  /** Question id. */
  readonly id: string;
}

type Answer = State & { readonly status: UserAnswer["status"] };

const KEY = "answer";
/** An answer expires after this time. */
const ANSWER_S = 600;
/** Rate limit, so that a model cannot flood the user with questions. */
const MAX_QUESTIONS = 30;
const WINDOW_MS = 600_000;
/** An empty form: the answer is accept, decline or cancel. */
const NO_FIELDS = { type: "object", properties: {} } as const;
/** Part of the client's request envelope, which the SDK does not validate. */
const Envelope = z.object({
  [CLIENT_CAPABILITIES_META_KEY]: z.object({
    elicitation: z.object({ form: z.unknown().optional(), url: z.unknown().optional() }).optional(),
  }),
});

/** Thrown by a tool that needs the user's answer. */
export class ElicitationRequired extends Error {
  override readonly name = "InputNeeded";
  readonly question: State & { readonly message: string };

  constructor(question: ElicitationRequired["question"]) {
    super("The user must answer first");
    this.question = question;
  }
}

export class Elicitations {
  readonly #codec: RequestStateCodec<State> = createRequestStateCodec<State>({
    key: randomBytes(32),
    ttlSeconds: ANSWER_S,
  });
  readonly #now: () => number;
  /** Times of recent questions. */
  #askedAt: readonly number[] = [];

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Options for the SDK server. */
  get serverOptions() {
    return {
      requestState: { verify: this.#codec.verify.bind(this.#codec) },
      inputRequired: { legacyShim: false },
    };
  }

  /** The `askUser` of one request. `known` are the capabilities from the handshake, if there was one. */
  askUser(request: McpRequest, known: ClientCapabilities | undefined, given = responseIn(request)): AskUser {
    const envelope = Envelope.safeParse(request.envelope);
    const { elicitation } = (envelope.success ? envelope.data[CLIENT_CAPABILITIES_META_KEY] : known) ?? {};
    return async ({ message, subject: what }) => {
      if (!supportsForms(elicitation)) return { status: "unable" };
      const subject = createHash("sha256").update(JSON.stringify(what)).digest("base64url");
      if (given?.subject === subject) return { status: given.status, question: given.id };
      this.#limitRate();
      throw new ElicitationRequired({ message, subject, id: randomUUID() });
    };
  }

  /** For a client of 2026-07-28, which repeats the request with the answer. */
  async toResult({ question: { message, subject, id } }: ElicitationRequired): Promise<InputRequiredResult> {
    const question = inputRequired.elicit({ message, requestedSchema: NO_FIELDS });
    const requestState = await this.#codec.mint({ subject, id });
    return inputRequired({ inputRequests: { [KEY]: question }, requestState });
  }

  /** For an older client. Never rejects: a failed elicitation counts as `unable`. */
  async elicit(
    { question: { message, subject, id } }: ElicitationRequired,
    { elicitInput, signal }: McpRequest,
  ): Promise<Answer> {
    try {
      const params = { mode: "form", message, requestedSchema: NO_FIELDS } as const;
      const { action } = await elicitInput(params, { timeout: ANSWER_S * 1000, signal });
      return { status: action, subject, id };
    } catch (error) {
      const isTimeout = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
      return { status: isTimeout || signal.aborted ? "unanswered" : "unable", subject, id };
    }
  }

  #limitRate(): void {
    const now = this.#now();
    const recent = this.#askedAt.filter((at) => at > now - WINDOW_MS);
    const [oldest] = recent;
    if (oldest !== undefined && recent.length >= MAX_QUESTIONS) {
      throw new ChatError("RATE_LIMITED", `The user was asked ${MAX_QUESTIONS} times within ten minutes`, {
        retry_after_s: Math.ceil((oldest + WINDOW_MS - now) / 1000),
      });
    }
    this.#askedAt = [...recent, now];
  }
}

/** The answer in a repeated request of a 2026-07-28 client. */
function responseIn(request: McpRequest): Answer | undefined {
  const state = request.requestState<State>();
  const answer = inputResponse(request.inputResponses, KEY);
  return state === undefined || answer.kind !== "elicit" ? undefined : { ...state, status: answer.action };
}

/** An empty elicitation capability means forms. */
function supportsForms(elicitation: { readonly form?: unknown; readonly url?: unknown } | undefined): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
