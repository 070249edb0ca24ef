// Whoever sent a request is told what became of it, once, whatever the server does to the connection; over real sockets.

import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { HubError } from "../errors.ts";
import { Sockets } from "./sockets.ts";

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** A server that does this to the connection of each request, and a client of it. */
async function start(answer: (socket: Socket, path: string) => void): Promise<Sockets> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (head) => answer(socket, head.toString("latin1").split(" ")[1] ?? ""));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this form
  const { port } = server.address() as AddressInfo;
  const sockets = new Sockets(new URL(`http://127.0.0.1:${port}/start`));
  open.push(() => (sockets.close(), server.close()));
  return sockets;
}

/** What one request is told: the body of its answer, or why there is none. */
function ask(sockets: Sockets, onBody: (abort: (error: HubError) => void) => void = () => undefined) {
  return new Promise<string | HubError>((resolve) => {
    let body = "";
    const sent = sockets.dispatch(
      { method: "GET", fields: "" },
      {
        onHead: () => undefined,
        onBody: (chunk) => {
          body += chunk.toString();
          onBody((error) => sent.abort(error));
        },
        onEnd: () => resolve(body),
        onError: resolve,
      },
    );
  });
}

const LAST = "HTTP/1.1 200 OK\r\n\r\nto the end";

it("SE-5 an answer that lasts as long as its connection ends with it", async () => {
  expect(await ask(await start((socket) => socket.end(LAST)))).toBe("to the end");
});

it("F25 if the connection breaks instead, that is an error", async () => {
  const accepted: Socket[] = [];
  const sockets = await start((socket) => {
    accepted.push(socket);
    socket.write(LAST);
  });
  const reset = () => accepted.forEach((socket) => socket.resetAndDestroy());
  expect(await ask(sockets, reset)).toMatchObject({ kind: "ConnectionFailed", detail: "ECONNRESET" });
});

it("F46 if it is given up, that is told", async () => {
  const cancelled = new HubError("Cancelled", "No longer wanted");
  const sockets = await start((socket) => socket.write(LAST));
  expect(await ask(sockets, (abort) => abort(cancelled))).toBe(cancelled);
});

it("SE-5 a redirect that is not followed is told, with or without a length", async () => {
  for (const length of ["content-length: 0\r\n", ""]) {
    const sockets = await start((socket) =>
      socket.write(`HTTP/1.1 302 Found\r\nlocation: http://elsewhere.example/\r\n${length}\r\n`),
    );
    expect(await ask(sockets)).toBeInstanceOf(HubError);
  }
});

it("SE-5 what came in one piece with an answer is not the answer to the next request", async () => {
  const ok = (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
  const sockets = await start((socket, path) =>
    socket.write(
      path === "/start" ? `HTTP/1.1 307 X\r\nlocation: /real\r\ncontent-length: 0\r\n\r\n${ok("forged")}` : ok("real"),
    ),
  );
  expect(await ask(sockets)).toBe("real");
});

it("R30 a request that is given up while the proxy makes no tunnel is told so, once", async () => {
  const proxy = createServer((socket) => socket.on("error", () => undefined));
  const connected = once(proxy, "connection");
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this form
  const { port } = proxy.address() as AddressInfo;
  const sockets = new Sockets(new URL("https://server.test/"), new URL(`http://127.0.0.1:${port}`));
  open.push(() => (sockets.close(), proxy.close()));
  const told: HubError[] = [];
  const never = () => expect.unreachable();
  const receiver = { onHead: never, onBody: never, onEnd: never, onError: (error: HubError) => told.push(error) };
  const sent = sockets.dispatch({ method: "GET", fields: "" }, receiver);
  const [tunnel] = (await connected) as [Socket];
  await once(tunnel, "data");
  const cancelled = new HubError("Cancelled", "No longer wanted");
  sent.abort(cancelled);
  sent.abort(cancelled);
  expect(told).toEqual([]);
  tunnel.write("HTTP/1.1 200 OK\r\n\r\n");
  await new Promise((resolve) => tunnel.resume().once("close", resolve));
  expect(told).toEqual([cancelled]);
});
