// A small forward proxy for absolute-form requests and CONNECT tunnels. Every name resolves to this machine.

import { once } from "node:events";
import { createServer, request as forward } from "node:http";
import { connect as connectTcp, type Socket } from "node:net";
import { listen } from "./sockets.ts";

export interface ForwardProxy {
  readonly url: string;
  /** `GET http://…` or `CONNECT host:port`, in order of arrival. */
  readonly log: string[];
  readonly stop: () => Promise<void>;
}

/** If credentials are given, the proxy requires them. */
export async function startProxy(credentials?: string): Promise<ForwardProxy> {
  const log: string[] = [];
  const sockets = new Set<Socket>();
  const isKnown = (given: string | undefined) =>
    credentials === undefined || given === `Basic ${Buffer.from(credentials).toString("base64")}`;
  const server = createServer((incoming, outgoing) => {
    const { method = "", url = "", headers } = incoming;
    log.push(`${method} ${url}`);
    if (!isKnown(headers["proxy-authorization"])) return void outgoing.writeHead(407).end();
    const { port, pathname, search } = new URL(url);
    const onward = forward({ host: "127.0.0.1", port, method, path: pathname + search, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.writeHead(502).end());
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  server.on("connect", ({ url = "", headers }, socket: Socket) => {
    log.push(`CONNECT ${url}`);
    socket.on("error", () => undefined);
    if (!isKnown(headers["proxy-authorization"])) return void socket.end("HTTP/1.1 407 No\r\n\r\n");
    const onward = connectTcp(Number(url.split(":").at(-1)), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    onward.on("error", () => socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
    sockets.add(onward);
  });
  server.on("connection", (socket) => sockets.add(socket));
  const port = await listen(server);
  return {
    url: `http://${credentials === undefined ? "" : `${credentials}@`}127.0.0.1:${port}`,
    log,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
