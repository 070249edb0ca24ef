// WebSocket, client side: failures. Normal use is in test/mcp/transports.test.ts.

import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocketServer, type ServerOptions, type WebSocket } from "ws";
import type { HubError } from "../../errors.ts";
import { WebSocketChannel } from "./ws-client.ts";
import { portOf } from "../../../../test/support/sockets.ts";

const cleanups: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function start(options: ServerOptions = {}, pingMs?: number) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, handleProtocols: () => "mcp", ...options });
  await once(server, "listening");
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  const accepted = once(server, "connection");
  const messages: string[] = [];
  let onLost: (error: HubError) => void = () => undefined;
  const lost = new Promise<HubError>((resolve) => (onLost = resolve));
  const channel = await WebSocketChannel.open({
    url: new URL(`ws://127.0.0.1:${portOf(server)}/`),
    headers: {},
    maxMessageBytes: 1000,
    connectTimeoutMs: 5000,
    ...(pingMs === undefined ? {} : { pingMs }),
    onMessage: (bytes) => messages.push(bytes.toString()),
    onLost,
  });
  cleanups.push(() => channel.close());
  const [socket] = (await accepted) as [WebSocket];
  return { channel, socket, messages, lost };
}

describe("WebSocketChannel", () => {
  it("CL-7 carries text frames both ways and ignores binary frames", async () => {
    const { channel, socket, messages } = await start();
    channel.send(Buffer.from('{"a":"ü"}'));
    const [data, isBinary] = await once(socket, "message");
    expect([String(data), isBinary]).toEqual(['{"a":"ü"}', false]);
    socket.send(Buffer.from("junk"));
    socket.send("text");
    socket.close();
    await once(socket, "close");
    expect(messages).toEqual(["text"]);
  });

  it("CL-7 reports the close code", async () => {
    const { socket, lost } = await start();
    socket.close(1012);
    expect(await lost).toMatchObject({ kind: "ConnectionFailed", detail: "WebSocket close code 1012" });
  });

  it("SE-5 a frame that is too large ends the connection", async () => {
    const { socket, lost } = await start();
    socket.send("x".repeat(1001));
    expect(await lost).toMatchObject({ kind: "ProtocolError", message: expect.stringContaining("1000 bytes") });
  });

  it("CL-7 a server that no longer answers pings is disconnected", async () => {
    const { lost } = await start({ autoPong: false }, 20);
    expect(await lost).toMatchObject({ message: "The server no longer answers on its connection" });
  });

  it("CL-7 a server without a subprotocol is accepted; one with another subprotocol is not", async () => {
    const { channel, socket } = await start({ handleProtocols: () => false });
    channel.send(Buffer.from("{}"));
    expect(String((await once(socket, "message"))[0])).toBe("{}");
    await expect(start({ handleProtocols: () => "other" })).rejects.toMatchObject({ kind: "ConnectionFailed" });
  });

  it("SE-5 the buffer for a server that does not read is bounded", async () => {
    const { channel, socket } = await start();
    socket.pause();
    const fill = () => {
      for (let n = 0; n < 64; n++) channel.send(Buffer.alloc(1 << 20, "x"));
    };
    expect(fill).toThrow(expect.objectContaining({ kind: "Overloaded" }));
    socket.terminate();
  });
});
