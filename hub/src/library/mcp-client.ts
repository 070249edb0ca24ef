// One MCP server without a hub around it: start it, list its tools, call them, end it.

import { randomUUID } from "node:crypto";
import { Redactor } from "../calls/redact.ts";
import { normalizeServer } from "../config/normalize.ts";
import { HubError } from "../errors.ts";
import { MemorySecrets } from "../secrets/memory-store.ts";
import { hubEnvironment } from "../servers/environment.ts";
import { EraMemory } from "../servers/era-memory.ts";
import { Guard } from "../servers/guard.ts";
import { ManagedServer } from "../servers/server.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { rawParams } from "../wire/jsonrpc.ts";
import { toToolResult, type ToolResult } from "./tool-result.ts";

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

export interface ConnectOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly signal?: AbortSignal;
}

/**
 * A client of one server that it started itself.
 *
 * @example
 * const client = await McpClient.connect("files", "npx", ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"]);
 * const { content, isError } = await client.callTool("list_directory", { path: "/tmp" });
 * await client.shutdown();
 */
export class McpClient {
  readonly name: string;
  readonly #server: ManagedServer;
  readonly #guard: Guard;

  private constructor(server: ManagedServer, guard: Guard) {
    this.name = server.name;
    this.#server = server;
    this.#guard = guard;
  }

  /** Starts the server and shakes hands with it. Rejects with a HubError that says why it did not come up. */
  static async connect(
    name: string,
    command: string,
    args: readonly string[] = [],
    { env = {}, cwd, signal }: ConnectOptions = {},
  ): Promise<McpClient> {
    const instance = randomUUID();
    const guard = new Guard({ instance });
    const entry = { command, args: [...args], env, ...(cwd === undefined ? {} : { cwd }) };
    const world = {
      variables: hubEnvironment(),
      secrets: new MemorySecrets(),
      guard,
      eras: await EraMemory.open(),
      instance,
      redactor: new Redactor(),
    };
    const server = new ManagedServer(normalizeServer(name, entry), world, { onStatus: () => {}, onOffer: () => {} });
    const client = new McpClient(server, guard);
    const cancel = () => void client.shutdown();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      await server.start();
      return client;
    } catch (error) {
      await client.shutdown();
      throw error;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** What the server offers now. */
  get tools(): readonly ToolDefinition[] {
    return (this.#server.listing?.tools ?? []).map((tool) => ({
      name: String(tool["name"]),
      description: typeof tool["description"] === "string" ? tool["description"] : "",
      inputSchema: isObject(tool["inputSchema"]) ? tool["inputSchema"] : {},
    }));
  }

  /** Text blocks joined by newlines, and whether the tool calls it an error. The server's JSON-RPC errors are thrown. */
  async callTool(name: string, args: JsonObject = {}, { signal }: { signal?: AbortSignal } = {}): Promise<ToolResult> {
    const tool = this.#server.listing?.tools.find((candidate) => candidate["name"] === name);
    if (tool === undefined) {
      throw new HubError("ToolNotFound", "Tool not found", { detail: `${this.name} has no tool "${name}"` });
    }
    const params = rawParams({ name, arguments: args });
    const reply = await this.#server.ask({
      method: "tools/call",
      params,
      tool,
      ...(signal === undefined ? {} : { signal }),
    });
    return toToolResult(reply);
  }

  /** Ends the server; nothing of it is left when this resolves. */
  async shutdown(): Promise<void> {
    await this.#server.stop();
    this.#guard.close();
  }
}
