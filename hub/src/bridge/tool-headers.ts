// Which arguments of a tool a modern request repeats in its headers. Over stdio there are none, so a client does not send them:
// the bridge learns them from the lists that it carries.

import { headerParams, type HeaderParam } from "../wire/headers.ts";
import { isObject } from "../wire/json.ts";

const MARK = "x-mcp-header";
/** Of so many tools they are kept. */
const MAX_TOOLS = 10_000;

export class ToolHeaders {
  readonly #tools = new Map<string, readonly HeaderParam[]>();

  of(method: string, name: unknown): readonly HeaderParam[] {
    return method === "tools/call" && typeof name === "string" ? (this.#tools.get(name) ?? []) : [];
  }

  /** The answer to a `tools/list`, as bytes and read. */
  learn(bytes: Buffer, result: unknown): void {
    // Hardly any list has one.
    if (!bytes.includes(MARK) && this.#tools.size === 0) return;
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
