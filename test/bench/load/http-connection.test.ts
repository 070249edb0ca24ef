import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { headerOf, HttpConnection } from "./http-connection.ts";

let server: Server | undefined;

afterEach(() => server?.close());

/** Answers with these chunks, each in its own packet. */
async function answering(pieces: readonly string[], end = false): Promise<HttpConnection> {
  const serve = async (socket: Socket) => {
    socket.setNoDelay().on("error", () => {});
    await once(socket, "data");
    for (const piece of pieces) {
      socket.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (end) socket.end();
  };
  server = createServer((socket) => void serve(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return new HttpConnection(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
}

const COUNTED = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nmcp-session-id: abc\r\n\r\nhello";
const CHUNKED = "HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n, you!\r\n0\r\n\r\n";

it.each([
  ["with a length", COUNTED, 200, "hello"],
  ["in chunks", CHUNKED, 202, "hello, you!"],
  ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""],
])("reads an answer %s, whole or byte by byte", async (_what, text, status, body) => {
  for (const pieces of [[text], text.split("")]) {
    const connection = await answering(pieces);
    const answer = await connection.ask("GET / HTTP/1.1\r\n\r\n");
    expect([answer.status, answer.body.toString()]).toEqual([status, body]);
    connection.close();
    server?.close();
  }
});

it("finds a header in any case", () => expect(headerOf(COUNTED, "MCP-Session-Id")).toBe("abc"));

it("fails if the answer is cut off", async () => {
  const connection = await answering([COUNTED.slice(0, -1)], true);
  await expect(connection.ask("GET / HTTP/1.1\r\n\r\n")).rejects.toThrow("closed before the answer");
});
