// MCP over this process's own stdin and stdout, server side: one message per line.

import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { ClientConnection } from "./connection.ts";
import { RPC } from "../rpc/jsonrpc.ts";
import { LineWriter } from "../../lib/streams/line-writer.ts";
import { LineReader } from "../../lib/streams/lines.ts";
import type { Service } from "./service.ts";

export interface StdioServerOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly service: Service;
  readonly maxLineBytes?: number;
}

const MAX_LINE_BYTES = 4 << 20;

export class StdioServer {
  /** Resolves when the client closed its side and all replies are written. */
  readonly ended: Promise<void>;

  constructor({ input, output, service, maxLineBytes = MAX_LINE_BYTES }: StdioServerOptions) {
    const writer = new LineWriter(output);
    const send = (message: Buffer) => writer.write(message);
    const connection = new ClientConnection({ service, transport: "stdio", sessionId: randomUUID(), send });
    const drain = async () => {
      await connection.finish();
      writer.flush();
    };
    this.ended = new Promise((resolve) => {
      const lines = new LineReader({
        maxBytes: maxLineBytes,
        onLine: (line) => connection.receive(line),
        onOverflow: () => {
          connection.refuse(null, RPC.invalidRequest, `A line is longer than ${maxLineBytes} bytes`);
          input.destroy();
          resolve(drain());
        },
      });
      input.on("data", (chunk: Buffer) => lines.push(chunk));
      input.once("end", () => {
        lines.end();
        resolve(drain());
      });
      input.once("error", () => resolve(drain()));
    });
  }
}
