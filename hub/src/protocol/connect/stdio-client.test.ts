// MCP over a child's pipes, client side: one message per line, in any chunks.

import { PassThrough } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { StdioChannel } from "./stdio-client.ts";

function makeChannel(maxLineBytes = 1000) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const lines: string[] = [];
  let overflows = 0;
  const channel = new StdioChannel({
    stdin,
    stdout,
    maxLineBytes,
    onMessage: (line) => lines.push(line.toString()),
    onOverflow: () => overflows++,
  });
  return { channel, stdin, stdout, lines, overflows: () => overflows };
}

const written = (stdin: PassThrough) => String(stdin.read() ?? "");

describe("StdioChannel", () => {
  it("CL-1 writes one message per line, in order, and batches those of one event loop turn", async () => {
    const { channel, stdin } = makeChannel();
    const writes: string[] = [];
    stdin.on("data", (chunk) => writes.push(String(chunk)));
    channel.send(Buffer.from('{"id":1}'));
    channel.send(Buffer.from('{"id":2}'));
    await turn();
    channel.send(Buffer.from('{"id":3}'));
    await turn();
    expect(writes).toEqual(['{"id":1}\n{"id":2}\n', '{"id":3}\n']);
  });

  it.each([
    ["a client's line breaks", '{"jsonrpc":"2.0",\n"id":1,\r\n"method":"x"}'],
    [
      "a message inside a message, put on a line of its own",
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":\n{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"forbidden"}}\n}}',
    ],
  ])("T36 never writes two lines for one message: %s", async (_, message) => {
    const { channel, stdin } = makeChannel();
    channel.send(Buffer.from(message));
    await turn();
    const lines = written(stdin).split("\n");
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[0] ?? "")).toEqual(JSON.parse(message));
  });

  it("F07 reads messages in any chunks, and a last one without a newline", async () => {
    const { stdout, lines } = makeChannel();
    for (const byte of Buffer.from('{"a":"ä€"}\r\n\n{"b":2}\n{"c":3}')) stdout.write(Buffer.from([byte]));
    stdout.end();
    await turn();
    expect(lines).toEqual(['{"a":"ä€"}', '{"b":2}', '{"c":3}']);
  });

  it("F08 reports a line that is too long once, and stops reading", async () => {
    const { stdout, lines, overflows } = makeChannel(10);
    stdout.write(`before\n${"x".repeat(11)}\nafter\n`);
    stdout.end(`${"x".repeat(11)}\n`);
    await turn();
    expect([lines, overflows()]).toEqual([["before"], 1]);
  });

  it("F01 drops messages that it can no longer write", async () => {
    const { channel, stdin } = makeChannel();
    channel.send(Buffer.from('{"id":1}'));
    stdin.end();
    await turn();
    channel.send(Buffer.from('{"id":2}'));
    await turn();
    expect(written(stdin)).toBe("");
  });
});
