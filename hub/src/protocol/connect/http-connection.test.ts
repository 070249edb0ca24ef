import { once } from "node:events";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { expect, it } from "vitest";
import { HttpConnection } from "./http-connection.ts";
import { listen } from "../../../../test/support/sockets.ts";

it("an idle connection is closed before the server would close it", async () => {
  const server = createServer((_, response) => response.end("{}"));
  // Node sends it in a header of each response.
  server.keepAliveTimeout = 600_000;
  const port = await listen(server);
  const connection = new HttpConnection(`http://127.0.0.1:${port}`, { connectTimeoutMs: 30_000, maxIdleMs: 100 });
  try {
    const connected = once(server, "connection") as Promise<[Socket]>;
    const answered = new Promise<void>((resolve, reject) => {
      connection.dispatch(
        { method: "GET", path: "/", headers: [] },
        { onResponse: () => undefined, onData: () => undefined, onEnd: resolve, onError: reject },
      );
    });
    const [socket] = await connected;
    const closed = once(socket, "close");
    await answered;
    await closed;
    expect(socket.destroyed).toBe(true);
  } finally {
    await connection.close();
    server.closeAllConnections();
    server.close();
  }
});
