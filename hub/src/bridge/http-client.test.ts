// Every request ends with exactly one onEnd or onError, whatever the server does to the connection. Over real sockets.

import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { HubError } from "../errors.ts";
import { HttpClient } from "./http-client.ts";
import { listen } from "../../../test/support/sockets.ts";

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** Starts a server that calls `answer` for each request, and a client of it. */
async function start(answer: (socket: Socket, path: string) => void): Promise<HttpClient> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (head) => answer(socket, head.toString("latin1").split(" ")[1] ?? ""));
  });
  const port = await listen(server);
  const client = new HttpClient(new URL(`http://127.0.0.1:${port}/start`));
  open.push(() => (client.close(), server.close()));
  return client;
}

/** The body of the response, or the error. */
function ask(client: HttpClient, onBody: (abort: (error: HubError) => void) => void = () => undefined) {
  return new Promise<string | HubError>((resolve) => {
    let body = "";
    const sent = client.send(
      { method: "GET", headers: {} },
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

it("SE-5 a body without a length ends with the connection", async () => {
  expect(await ask(await start((socket) => socket.end(LAST)))).toBe("to the end");
});

it("F25 a body without a length fails if the connection is reset", async () => {
  const accepted: Socket[] = [];
  const client = await start((socket) => {
    accepted.push(socket);
    socket.write(LAST);
  });
  const reset = () => accepted.forEach((socket) => socket.resetAndDestroy());
  expect(await ask(client, reset)).toMatchObject({ kind: "ConnectionFailed", detail: "ECONNRESET" });
});

it("F46 an aborted request gets the error of the abort", async () => {
  const cancelled = new HubError("Cancelled", "No longer wanted");
  const client = await start((socket) => socket.write(LAST));
  expect(await ask(client, (abort) => abort(cancelled))).toBe(cancelled);
});

it("SE-5 a redirect to another origin is an error, with or without a length", async () => {
  for (const length of ["content-length: 0\r\n", ""]) {
    const client = await start((socket) =>
      socket.write(`HTTP/1.1 302 Found\r\nlocation: http://elsewhere.example/\r\n${length}\r\n`),
    );
    expect(await ask(client)).toBeInstanceOf(HubError);
  }
});

it("SE-5 bytes after a response are never taken for the response to the next request", async () => {
  const ok = (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
  const client = await start((socket, path) =>
    socket.write(
      path === "/start" ? `HTTP/1.1 307 X\r\nlocation: /real\r\ncontent-length: 0\r\n\r\n${ok("forged")}` : ok("real"),
    ),
  );
  expect(await ask(client)).toBe("real");
});

it("a request aborted while the proxy opens no tunnel gets one error, at once", async () => {
  const proxy = createServer((socket) => socket.on("error", () => undefined));
  const connected = once(proxy, "connection");
  const port = await listen(proxy);
  const client = new HttpClient(new URL("https://server.test/"), new URL(`http://127.0.0.1:${port}`));
  open.push(() => (client.close(), proxy.close()));
  const told: HubError[] = [];
  const never = () => expect.unreachable();
  const receiver = { onHead: never, onBody: never, onEnd: never, onError: (error: HubError) => told.push(error) };
  const sent = client.send({ method: "GET", headers: {} }, receiver);
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
