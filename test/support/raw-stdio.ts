// A client of `plugboard stdio` that checks every line.

import { expect } from "vitest";
import { launch, type Home } from "./hub.ts";
import { processesWithMark } from "./processes.ts";
import { Messages, onLines } from "./streams.ts";

export class RawClient {
  readonly home: Home;
  readonly messages = new Messages();
  /** Lines of stdout that are not JSON-RPC. */
  readonly strays: string[] = [];
  readonly process;
  readonly finished;
  #id = 0;

  constructor(made: Home, args: readonly string[] = []) {
    const { process: child, finished } = launch(made, ["stdio", ...args]);
    this.home = made;
    this.process = child;
    this.finished = finished;
    onLines(child.stdout, (line) => this.#line(line));
    child.stdout.on("close", () => this.messages.end());
  }

  write(text: string | Buffer): void {
    this.process.stdin.write(text);
  }

  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  request(method: string, params: object = {}) {
    const id = ++this.#id;
    this.send({ id, method, params });
    return this.messages.find((message) => message.id === id);
  }

  async initialize(protocolVersion = "2025-11-25") {
    const clientInfo = { name: "raw", version: "1" };
    const hello = await this.request("initialize", { protocolVersion, capabilities: {}, clientInfo });
    this.send({ method: "notifications/initialized" });
    return hello;
  }

  async tools(): Promise<string[]> {
    return (await this.request("tools/list")).result.tools.map(({ name }: { name: string }) => name);
  }

  call(name: string, args: object = {}) {
    return this.request("tools/call", { name, arguments: args });
  }

  /** Closes stdin and waits for the exit. A hub of its own must leave no servers; those of a running hub stay. */
  async end({ leaves = 0 }: { leaves?: number } = {}) {
    this.process.stdin.end();
    const finished = await this.finished;
    expect(this.strays).toEqual([]);
    expect(finished.stderr).not.toMatch(/unhandled|uncaught/i);
    expect(processesWithMark(this.home.mark)).toHaveLength(leaves);
    return finished;
  }

  #line(line: string): void {
    try {
      const message = JSON.parse(line);
      if (message.jsonrpc === "2.0") return this.messages.push(message);
    } catch {
      // reported below
    }
    this.strays.push(line);
  }
}
