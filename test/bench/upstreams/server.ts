// An MCP server on plain JSON-RPC, in both eras, as cheap as possible, because its cost is part of every figure. stdio.ts and
// http.ts are its transports.

import { parseArgs } from "node:util";

export type Era = "legacy" | "modern";

const MODERN_VERSION = "2026-07-28";
const PAGE = 1000;

interface Request {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface ServerOptions {
  readonly tools: number;
  /** It supports only this revision. */
  readonly era: Era;
}

/** The arguments of both programs. */
export function parseServerArgs() {
  const { values } = parseArgs({
    options: {
      tools: { type: "string", default: "2" },
      era: { type: "string", default: "legacy" },
      port: { type: "string", default: "0" },
      sse: { type: "boolean", default: false },
    },
  });
  const era: Era = values.era === "modern" ? "modern" : "legacy";
  return { tools: Number(values.tools), era, port: Number(values.port), sse: values.sse };
}

export class RawServer {
  readonly #era: Era;
  readonly #tools: readonly object[];
  #sized = { bytes: -1, json: "" };

  constructor({ tools, era }: ServerOptions) {
    this.#era = era;
    this.#tools = [ECHO, SIZED, ...Array.from({ length: Math.max(0, tools - 2) }, (_, index) => filler(index))];
  }

  /** The answer as JSON; undefined if the message needs none. */
  answer({ id, method = "", params = {} }: Request): string | undefined {
    if (id === undefined) return undefined;
    const result = this.#result(method, params);
    const outcome = result === undefined ? UNKNOWN : `"result":${result}`;
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${outcome}}`;
  }

  #result(method: string, params: Readonly<Record<string, unknown>>): string | undefined {
    const isModern = this.#era === "modern";
    switch (method) {
      case "tools/call":
        return this.#call(params);
      case "tools/list":
        return this.#list(Number(params["cursor"] ?? 0));
      case "ping":
        return "{}";
      case "initialize":
        return isModern ? undefined : JSON.stringify({ ...INITIALIZED, protocolVersion: params["protocolVersion"] });
      case "server/discover":
        return isModern ? DISCOVERED : undefined;
      default:
        return undefined;
    }
  }

  #call({ name, arguments: given }: Readonly<Record<string, unknown>>): string {
    const { bytes, text } = (given ?? {}) as { bytes?: number; text?: string };
    const json = name === "sized" ? this.#sizedText(bytes ?? 0) : JSON.stringify(text ?? "");
    return `{${this.#complete()}"content":[{"type":"text","text":${json}}]}`;
  }

  #list(from: number): string {
    const cursor = from + PAGE < this.#tools.length ? `,"nextCursor":"${from + PAGE}"` : "";
    const cache = this.#era === "modern" ? '"ttlMs":0,"cacheScope":"private",' : "";
    return `{${this.#complete()}${cache}"tools":${JSON.stringify(this.#tools.slice(from, from + PAGE))}${cursor}}`;
  }

  #complete(): string {
    return this.#era === "modern" ? '"resultType":"complete",' : "";
  }

  #sizedText(bytes: number): string {
    if (this.#sized.bytes !== bytes) this.#sized = { bytes, json: JSON.stringify("x".repeat(bytes)) };
    return this.#sized.json;
  }
}

const UNKNOWN = '"error":{"code":-32601,"message":"Method not found"}';
const SERVER_INFO = { name: "raw", version: "1.0.0" };
/** In the requested revision: the tools are the same in all of them. */
const INITIALIZED = { capabilities: { tools: {} }, serverInfo: SERVER_INFO };
const DISCOVERED = JSON.stringify({
  resultType: "complete",
  supportedVersions: [MODERN_VERSION],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: "private",
  _meta: { "io.modelcontextprotocol/serverInfo": SERVER_INFO },
});

const ECHO = tool("echo", "Says the same", { text: { type: "string", description: "What to say" } });
const SIZED = tool("sized", "Says something long", { bytes: { type: "integer", minimum: 0 } });

/** A definition about as large as those of real servers; it echoes. */
function filler(index: number): object {
  const text = (description: string) => ({ type: "string", description });
  return tool(`tool_${index}`, `Finds what matches, the newest first, and at most so many. Filler number ${index}.`, {
    text: text("What to look for, in titles and in what stands below them"),
    after: { ...text("Nothing before this time, as ISO 8601"), format: "date-time" },
    until: { ...text("Nothing after this time, as ISO 8601"), format: "date-time" },
    order: { ...text("Which of them come first"), enum: ["newest", "oldest"], default: "newest" },
    labels: { type: "array", items: { type: "string" }, description: "Only what has all of these labels" },
    limit: { type: "integer", description: "How many at most", minimum: 1, maximum: 200, default: 20 },
  });
}

function tool(name: string, description: string, properties: Readonly<Record<string, object>>): object {
  return {
    name,
    description,
    inputSchema: { type: "object", properties, required: Object.keys(properties).slice(0, 1) },
  };
}
