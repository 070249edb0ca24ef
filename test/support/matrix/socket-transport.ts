// A WebSocket client transport for the SDK, which has none for this Node: one message per text frame.

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { WebSocket } from "ws";

export class SocketTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #url: URL;
  #socket: WebSocket | undefined;

  constructor(url: URL) {
    this.#url = url;
  }

  start(): Promise<void> {
    const socket = new WebSocket(this.#url, ["mcp"]);
    this.#socket = socket;
    socket.on("message", (data: Buffer) => this.onmessage?.(JSON.parse(data.toString())));
    socket.on("close", () => this.onclose?.());
    socket.on("error", (error) => this.onerror?.(error));
    return new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#socket?.send(JSON.stringify(message));
  }

  async close(): Promise<void> {
    this.#socket?.close();
  }
}
