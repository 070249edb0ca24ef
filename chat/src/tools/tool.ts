// What a tool is: its name and schemas for the model, and what it does. How a failure looks is left to the MCP edge.

import type { ToolAnnotations } from "@modelcontextprotocol/server";
import type { z } from "zod";
import type { App } from "../app.ts";

export interface ToolContext {
  readonly app: App;
  /** The client has gone, or it took too long. */
  readonly signal: AbortSignal;
}

export interface ToolAnswer {
  /** Complete. */
  readonly structured: Readonly<Record<string, unknown>>;
  /** Compact, for who reads text only. */
  readonly text: string;
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
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly annotations: ToolAnnotations;
  /** Throws a ZodError where the arguments are wrong. */
  run(args: unknown, context: ToolContext): Promise<ToolAnswer>;
}

const READS: ToolAnnotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

export function tool<
  I extends z.ZodType,
  O extends z.ZodType<Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>>,
>(spec: ToolSpec<I, O>): Tool {
  const { run, ...rest } = spec;
  return {
    annotations: READS,
    ...rest,
    run: async (args, context) => await run(spec.input.parse(args ?? {}), context),
  };
}
