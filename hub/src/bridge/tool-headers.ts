// Tool arguments that a modern HTTP request repeats in its headers. A stdio client does not send headers, so the bridge learns the
// parameters from the tool lists that pass through.

import { headerParams, type HeaderParam } from "../protocol/revisions/headers.ts";
import { isObject } from "../lib/json/json.ts";

const ANNOTATION = "x-mcp-header";
const MAX_TOOLS = 10_000;

export class ToolHeaders {
  readonly #tools = new Map<string, readonly HeaderParam[]>();

  of(method: string, name: unknown): readonly HeaderParam[] {
    return method === "tools/call" && typeof name === "string" ? (this.#tools.get(name) ?? []) : [];
  }

  /** Reads the result of a `tools/list`. */
  learn(bytes: Buffer, result: unknown): void {
    // Most lists have no annotated tool.
    if (!bytes.includes(ANNOTATION) && this.#tools.size === 0) return;
    const tools = isObject(result) && Array.isArray(result["tools"]) ? result["tools"] : [];
    for (const tool of tools) {
      if (!isObject(tool) || typeof tool["name"] !== "string") continue;
      const params = headerParams(tool["inputSchema"]);
      const isNeeded = "length" in params && params.length > 0 && this.#tools.size < MAX_TOOLS;
      if (isNeeded) this.#tools.set(tool["name"], params);
      else this.#tools.delete(tool["name"]);
    }
  }
}
