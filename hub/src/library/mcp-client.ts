// A client of one MCP server, without a hub: starts the server, lists and calls its tools, and stops it.

import { randomUUID } from "node:crypto";
import { Redactor } from "../redaction/redactor.ts";
import { NAME_MAX } from "../config/schema/limits.ts";
import { normalizeServer } from "../config/parse/normalize.ts";
import { HubError } from "../errors.ts";
import { MemorySecrets } from "../secrets/memory-store.ts";
import { hubEnvironment } from "../servers/process/environment.ts";
import { EraMemory } from "../servers/connection/era-memory.ts";
import { Watchdog } from "../servers/process/watchdog.ts";
import { CLIENT_INFO, type ClientInfo } from "../servers/connection/handshake.ts";
import { ManagedServer } from "../servers/server.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { rawParams } from "../protocol/rpc/jsonrpc.ts";
import { ProgramCall, ProgramClient, type QuestionHandlers } from "./program-client.ts";
import { isAddress } from "./server-input.ts";
import { toToolResult, type ToolResult } from "./tool-result.ts";

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

export interface ClientOptions extends QuestionHandlers {
  readonly signal?: AbortSignal;
  /** Timeout of a request. Default: 120 s for a program, 30 s for an address. */
  readonly timeoutMs?: number;
  /** Name and version of the program. */
  readonly clientInfo?: ClientInfo;
  /**
   * Handshake. `auto`: `initialize`, which every server of 2024 and 2025 knows, then `server/discover` if it is refused.
   * `modern`: `server/discover` first, which costs 5 s if the server ignores unknown methods. `legacy`: `initialize` only.
   */
  readonly era?: "auto" | "modern" | "legacy";
}

/** For a server that the client starts. */
export interface ConnectOptions extends ClientOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** For a server at an address. */
export interface RemoteOptions extends ClientOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

const REQUEST_MS = 120_000;
const START_MS = 120_000;

/**
 * A client of one server, which it starts, or which is at an address.
 *
 * @example
 * await using client = await McpClient.connect("files", "npx", ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"]);
 * const { content, isError } = await client.callTool("list_directory", { path: "/tmp" });
 */
export class McpClient implements AsyncDisposable {
  readonly name: string;
  readonly #server: ManagedServer;
  readonly #watchdog: Watchdog;
  readonly #program: ProgramClient;

  private constructor(name: string, { server, watchdog, program }: Parts) {
    this.name = name;
    this.#server = server;
    this.#watchdog = watchdog;
    this.#program = program;
  }

  /** Starts the server and completes the handshake. Rejects with a HubError if the server does not start. */
  static connect(name: string, command: string, args?: readonly string[], options?: ConnectOptions): Promise<McpClient>;
  /** Connects to the server at an address: Streamable HTTP, HTTP+SSE, or WebSocket. */
  static connect(name: string, url: string | URL, options?: RemoteOptions): Promise<McpClient>;
  static connect(
    name: string,
    target: string | URL,
    argsOrOptions: readonly string[] | RemoteOptions = [],
    options: ConnectOptions = {},
  ): Promise<McpClient> {
    const [args, given] = isWords(argsOrOptions) ? [argsOrOptions, options] : [[], argsOrOptions];
    const entry = isAddress(target) ? remoteEntry(String(target), given) : commandEntry(target, args, given);
    return McpClient.#open(name, entry, given);
  }

  static async #open(name: string, entry: JsonObject, options: ClientOptions): Promise<McpClient> {
    const { signal, clientInfo = CLIENT_INFO } = options;
    if (signal?.aborted === true) throw new HubError("Cancelled", "The start was cancelled");
    const config = normalizeServer(legalName(name), entry);
    const instance = randomUUID();
    const watchdog = new Watchdog({ instance });
    const program = new ProgramClient(clientInfo, options);
    const context = {
      variables: { ...hubEnvironment(), ...DOLLAR },
      secrets: new MemorySecrets(),
      watchdog,
      eras: await EraMemory.open(),
      instance,
      redactor: new Redactor(),
      client: program,
    };
    // Skips the probe for the modern era: `server/discover` is sent only if the server refuses `initialize`.
    if (config.era === undefined) context.eras.remember(config.transport, "legacy");
    const server = new ManagedServer(config, context, { onStatus: () => {}, onOffer: () => {} });
    const client = new McpClient(name, { server, watchdog, program });
    const cancel = () => void client.close();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      await server.start();
      return client;
    } catch (error) {
      await client.close();
      throw error;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** The tools that the server currently offers. */
  get tools(): readonly ToolDefinition[] {
    return (this.#server.listing?.tools ?? []).map((tool) => ({
      name: String(tool["name"]),
      description: typeof tool["description"] === "string" ? tool["description"] : "",
      inputSchema: isObject(tool["inputSchema"]) ? tool["inputSchema"] : {},
    }));
  }

  /**
   * Sends `tools/call`, also for a name that is not listed. Throws a JSON-RPC error of the server as a HubError with the
   * server's message; `rpcError` has its code and data.
   */
  async callTool(
    name: string,
    args: JsonObject = {},
    { signal, timeoutMs }: { signal?: AbortSignal; timeoutMs?: number } = {},
  ): Promise<ToolResult> {
    const params = rawParams({ name, arguments: args });
    const responder = new ProgramCall(this.#program, params, signal);
    const tool = this.#server.listing?.tools.find((candidate) => candidate["name"] === name);
    const ask = {
      method: "tools/call",
      responder,
      signal,
      timeoutMs,
      ...(tool === undefined ? {} : { tool }),
    };
    let reply = await this.#server.forward({ ...ask, params });
    for (let next = responder.next(reply); next !== undefined; next = responder.next(reply)) {
      reply = await this.#server.forward({ ...ask, params: await next });
    }
    return toToolResult(reply);
  }

  /** Disconnects, and stops the server if it was started here: its processes have exited when this resolves. */
  async close(): Promise<void> {
    await this.#server.stop();
    this.#watchdog.close();
  }

  /** The same as `close`. */
  shutdown(): Promise<void> {
    return this.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

interface Parts {
  readonly server: ManagedServer;
  readonly watchdog: Watchdog;
  readonly program: ProgramClient;
}

function isWords(value: readonly string[] | RemoteOptions): value is readonly string[] {
  return Array.isArray(value);
}

/** The server entry. `shared`: all calls come from one program, so that one process is enough. */
function commandEntry(command: string, args: readonly string[], options: ConnectOptions): JsonObject {
  const { env = {}, cwd, timeoutMs = REQUEST_MS, era } = options;
  return {
    command: literal(command),
    args: args.map(literal),
    env: literals(env),
    isolation: "shared",
    timeouts: { start_ms: START_MS, request_ms: timeoutMs },
    ...(cwd === undefined ? {} : { cwd: literal(cwd) }),
    ...(era === undefined ? {} : { era }),
  };
}

function remoteEntry(url: string, { headers = {}, timeoutMs, era }: RemoteOptions): JsonObject {
  return {
    url: literal(url),
    headers: literals(headers),
    isolation: "shared",
    timeouts: timeoutMs === undefined ? {} : { request_ms: timeoutMs },
    ...(era === undefined ? {} : { era }),
  };
}

const DOLLAR = { PLUGBOARD_DOLLAR: "$" } as const;

/** Escapes `${`, which a config would expand. Expanded text is not expanded again. */
function literal(text: string): string {
  return text.replaceAll("${", "${PLUGBOARD_DOLLAR}{");
}

function literals(texts: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, literal(text)]));
}

/** Replaces characters that a config does not allow in a name. */
function legalName(name: string): string {
  const legal = name.replaceAll(/[^A-Za-z0-9_-]/g, "-").slice(0, NAME_MAX);
  return legal === "" ? "server" : legal;
}
