// Converts the tools of a group into the function-calling formats of the model APIs, and runs the calls that a model makes.
// Plain objects: no SDK of a vendor is needed.

import type { ExposedTool } from "../catalog/group.ts";
import { toHubError } from "../errors.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import type { ToolResult } from "./tool-result.ts";

type Run = (name: string, args: JsonObject) => Promise<ToolResult>;

export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: JsonObject;
}

export interface AnthropicToolUse {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content: string;
  is_error: boolean;
}

export interface OpenAiTool {
  type: "function";
  function: { name: string; description: string; parameters: JsonObject };
}

export interface OpenAiToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface OpenAiToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}

export interface GeminiTools {
  functionDeclarations: { name: string; description: string; parametersJsonSchema: JsonObject }[];
}

export interface GeminiFunctionCall {
  readonly id?: string;
  readonly name: string;
  readonly args?: unknown;
}

export interface GeminiFunctionResponse {
  functionResponse: { id?: string; name: string; response: { output: string } | { error: string } };
}

/** The tools of a group for each model API, and a runner for the calls of a model. */
export class FunctionCalling {
  readonly #tools: () => readonly ExposedTool[];
  readonly #run: Run;

  constructor(tools: () => readonly ExposedTool[], run: Run) {
    this.#tools = tools;
    this.#run = run;
  }

  anthropic(): AnthropicTool[] {
    return this.#toolsAs((name, description, input_schema) => ({ name, description, input_schema }));
  }

  openai(): OpenAiTool[] {
    return this.#toolsAs((name, description, parameters) => ({
      type: "function",
      function: { name, description, parameters },
    }));
  }

  gemini(): GeminiTools {
    const functionDeclarations = this.#toolsAs((name, description, parametersJsonSchema) => ({
      name,
      description,
      parametersJsonSchema,
    }));
    return { functionDeclarations };
  }

  async runAnthropic({ id, name, input }: AnthropicToolUse): Promise<AnthropicToolResult> {
    const { content, isError } = await this.#outcome(name, input);
    return { type: "tool_result", tool_use_id: id, content, is_error: isError };
  }

  async runOpenai({ id, function: { name, arguments: text } }: OpenAiToolCall): Promise<OpenAiToolMessage> {
    const { content } = await this.#outcome(name, parse(text));
    return { role: "tool", tool_call_id: id, content };
  }

  async runGemini({ id, name, args }: GeminiFunctionCall): Promise<GeminiFunctionResponse> {
    const { content, isError } = await this.#outcome(name, args);
    const response = isError ? { error: content } : { output: content };
    return { functionResponse: { ...(id === undefined ? {} : { id }), name, response } };
  }

  #toolsAs<T>(shape: (name: string, description: string, schema: JsonObject) => T): T[] {
    return this.#tools().map(({ exposed, definition }) => {
      const { description, inputSchema } = definition;
      return shape(
        exposed,
        typeof description === "string" ? description : "",
        isObject(inputSchema) ? inputSchema : EMPTY,
      );
    });
  }

  /** Errors become text: the model can read it and try something else. */
  async #outcome(name: string, args: unknown): Promise<{ content: string; isError: boolean }> {
    if (!isObject(args ?? {})) return { content: "The arguments are not a JSON object", isError: true };
    try {
      return await this.#run(name, isObject(args) ? args : {});
    } catch (thrown) {
      const { code, message, detail } = toHubError(thrown);
      return { content: `${code}: ${message}${detail === undefined ? "" : ` (${detail})`}`, isError: true };
    }
  }
}

const EMPTY: JsonObject = { type: "object", properties: {} };

function parse(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return text; // not an object, so #outcome reports an error
  }
}
