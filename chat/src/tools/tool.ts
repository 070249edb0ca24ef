// The interface of a tool: name and schemas for the model, and the function behind it. The MCP layer presents failures.

import type { ContentBlock, ToolAnnotations } from "@modelcontextprotocol/server";
import type { z } from "zod";
import type { App } from "../app.ts";
import type { FetchOptions } from "../history/history.ts";

export interface ToolContext {
  readonly app: App;
  /** Aborts if the client disconnects or the request times out. */
  readonly signal: AbortSignal;
  /** Reports progress to a client that wants it: a growing number, and a message. */
  readonly onProgress: (progress: number, message: string) => void;
  readonly askUser: AskUser;
  /** The text is for a person: messages oldest first, without ids for the next call. */
  readonly forPerson?: boolean;
}

/**
 * Asks the user, not the model. The tool runs again with the answer, which is valid for this subject only, so nothing may be
 * done before. `question` identifies the question: it is the same if one answer is submitted twice.
 */
export type AskUser = (question: { readonly message: string; readonly subject: unknown }) => Promise<UserAnswer>;

export type UserAnswer =
  /** `unanswered`: it timed out, or the client disconnected. */
  | { readonly status: "accept" | "decline" | "cancel" | "unanswered"; readonly question: string }
  /** The client cannot ask. */
  | { readonly status: "unable"; readonly question?: string };

/** For callers without a client. */
export const NO_USER: AskUser = async () => ({ status: "unable" });

/** Reports progress while older messages are fetched. */
export function fetchOptions({ app, signal, onProgress }: ToolContext): FetchOptions {
  return {
    signal,
    onPage: ({ pages, reachedAt }) => {
      const back = reachedAt === undefined ? "" : `, back to ${app.reader.presenter.time(reachedAt)}`;
      onProgress(pages, `Fetched ${pages} ${pages === 1 ? "page" : "pages"} of older messages${back}`);
    },
  };
}

export interface ToolAnswer {
  readonly structured: Readonly<Record<string, unknown>>;
  /** The same in compact form, for clients that read text only. */
  readonly text: string;
  /** Images, audio, files. */
  readonly content?: readonly ContentBlock[];
}

export interface ToolSpec<
  I extends z.ZodType,
  O extends z.ZodType<Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>>,
> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: O;
  readonly annotations?: ToolAnnotations;
  readonly run: (args: z.output<I>, context: ToolContext) => Promise<Answer<O>> | Answer<O>;
}

interface Answer<O extends z.ZodType<Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>>> {
  readonly structured: z.input<O>;
  readonly text: string;
  readonly content?: readonly ContentBlock[];
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly annotations: ToolAnnotations;
  /** Throws a ZodError if the arguments are invalid. */
  run(args: unknown, context: ToolContext): Promise<ToolAnswer>;
}

const READ_ONLY: ToolAnnotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

export function tool<
  I extends z.ZodType,
  O extends z.ZodType<Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>>,
>(spec: ToolSpec<I, O>): Tool {
  const { run, ...rest } = spec;
  return {
    annotations: READ_ONLY,
    ...rest,
    run: async (args, context) => await run(spec.input.parse(args ?? {}), context),
  };
}
