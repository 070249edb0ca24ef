// MCP over this process's own stdin and stdout, the server's side: one message a line. What the messages mean for the
// connection is the conversation's.

import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { Conversation } from "./conversation.ts";
import { RPC } from "./jsonrpc.ts";
import { LineWriter } from "./line-writer.ts";
import { LineReader } from "./lines.ts";
import type { Service } from "./server.ts";

export interface StdioServerOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly service: Service;
  readonly maxLineBytes?: number;
}

const MAX_LINE_BYTES = 4 << 20;

export class StdioServer {
  /** Resolves when the client closed its side, every open request is answered, and the answers are written. */
  readonly ended: Promise<void>;

  constructor({ input, output, service, maxLineBytes = MAX_LINE_BYTES }: StdioServerOptions) {
    const writer = new LineWriter(output);
    const send = (message: Buffer) => writer.write(message);
    const conversation = new Conversation({ service, transport: "stdio", sessionId: randomUUID(), send });
    const drain = async () => {
      await conversation.finish();
      writer.flush();
    };
    this.ended = new Promise((resolve) => {
      const lines = new LineReader({
        maxBytes: maxLineBytes,
        onLine: (line) => conversation.receive(line),
        onOverflow: () => {
          conversation.refuse(null, RPC.invalidRequest, `A line is longer than ${maxLineBytes} bytes`);
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
