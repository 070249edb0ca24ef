// A StdioServer on two pipes in memory, and the messages of its client.

import { once } from "node:events";
import { PassThrough } from "node:stream";
import { META, MODERN_VERSION } from "../../hub/src/protocol/revisions/era.ts";
import { success, type Reply } from "../../hub/src/protocol/rpc/jsonrpc.ts";
import type { IncomingRequest, Service } from "../../hub/src/protocol/serve/service.ts";
import { StdioServer } from "../../hub/src/protocol/serve/stdio-server.ts";

export const envelope = { [META.version]: MODERN_VERSION, [META.clientCapabilities]: {} };
export const HELLO = { protocolVersion: "2025-06-18", clientInfo: { name: "c" }, capabilities: { roots: {} } };

export interface Answer {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A server on two pipes. Its service replies at once with what it got, or as `handle` does. */
export function start({
  handle,
  maxLineBytes,
}: { handle?: (incoming: IncomingRequest) => Promise<Reply>; maxLineBytes?: number } = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const sessions: string[] = [];
  const notified: string[] = [];
  const exchanges: IncomingRequest[] = [];
  const service: Service = {
    handle: async (incoming) => {
      exchanges.push(incoming);
      if (handle !== undefined) return handle(incoming);
      const { era, session, logLevel } = incoming;
      return success({ era, version: session?.version, logLevel });
    },
    onNotification: ({ method }, session) => notified.push(`${method} ${session?.id}`),
    onSession: ({ version }) => sessions.push(`+${version}`),
    onSessionEnd: ({ version }) => sessions.push(`-${version}`),
  };
  const server = new StdioServer({ input, output, service, ...(maxLineBytes === undefined ? {} : { maxLineBytes }) });
  const answers: Answer[] = [];
  let rest = "";
  output.on("data", (chunk) => {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) answers.push(JSON.parse(line));
  });
  const until = async (holds: () => boolean) => {
    while (!holds()) await once(output, "data");
  };
  const write = (message: unknown) =>
    input.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  const request = (id: unknown, method: string, params?: unknown) => write({ jsonrpc: "2.0", id, method, params });
  const notify = (method: string, params?: unknown) => write({ jsonrpc: "2.0", method, params });
  /** The client closes its side; resolves like the command. */
  const end = async () => {
    input.end();
    await server.ended;
  };
  return { server, input, output, answers, sessions, notified, exchanges, until, write, request, notify, end };
}

/** The era that the service saw, or the error code. */
export const word = ({ result, error }: Answer) => error?.code ?? (result as { era?: string } | undefined)?.era;
