// A group's tools in the function-calling shapes of the model APIs, and the way back: a model's call in, the message
// that answers it out. Plain objects; none of the vendors' SDKs is needed.

import type { ExposedTool } from "../catalog/group.ts";
import { toHubError } from "../errors.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
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

/** The tools of a group for one model API each, and the execution of the calls that a model makes. */
export class FunctionCalling {
  readonly #tools: () => readonly ExposedTool[];
  readonly #run: Run;

  constructor(tools: () => readonly ExposedTool[], run: Run) {
    this.#tools = tools;
    this.#run = run;
  }

  anthropic(): AnthropicTool[] {
    return this.#described((name, description, input_schema) => ({ name, description, input_schema }));
  }

  openai(): OpenAiTool[] {
    return this.#described((name, description, parameters) => ({
      type: "function",
      function: { name, description, parameters },
    }));
  }

  gemini(): GeminiTools {
    const functionDeclarations = this.#described((name, description, parametersJsonSchema) => ({
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

  #described<T>(shape: (name: string, description: string, schema: JsonObject) => T): T[] {
    return this.#tools().map(({ exposed, definition }) => {
      const { description, inputSchema } = definition;
      return shape(
        exposed,
        typeof description === "string" ? description : "",
        isObject(inputSchema) ? inputSchema : EMPTY,
      );
    });
  }

  /** A model can read an error and try something else; only a bug of ours would be of no use to it. */
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
    return text; // answered as an error: not an object
  }
}
