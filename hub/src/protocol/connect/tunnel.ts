// A connection to a server through a proxy (HTTP CONNECT). The caller adds TLS.

import type { Socket } from "node:net";
import { HubError } from "../../errors.ts";
import { proxyAuthorization } from "./proxy.ts";

export interface TunnelOptions {
  readonly proxy: URL;
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
}

/** Rejects with a HubError if nothing was sent to the server. */
export async function openTunnel({ proxy, host, port, timeoutMs }: TunnelOptions): Promise<Socket> {
  // Loaded on demand: few hubs are behind a proxy.
  const { request } = await (proxy.protocol === "https:" ? import("node:https") : import("node:http"));
  const target = `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
  const authorization = proxyAuthorization(proxy);
  return new Promise((resolve, reject) => {
    const connecting = request({
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: proxy.port === "" ? (proxy.protocol === "https:" ? 443 : 80) : Number(proxy.port),
      method: "CONNECT",
      path: target,
      headers: { host: target, ...(authorization === undefined ? {} : { "proxy-authorization": authorization }) },
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
    });
    connecting.once("connect", ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        return reject(refusedByProxy(statusCode, proxy));
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    // The reply of an ordinary server to CONNECT.
    connecting.once("response", ({ statusCode = 0 }) => {
      connecting.destroy();
      reject(refusedByProxy(statusCode, proxy));
    });
    connecting.once("error", (error: NodeJS.ErrnoException) => reject(unreachableProxy(error, proxy)));
    connecting.end();
  });
}

const HINT = 'Check HTTP_PROXY, HTTPS_PROXY and NO_PROXY; a server of the hub can have "proxy": false';

/** 407 asks for credentials; any other status is a decision of the proxy. */
export function refusedByProxy(status: number, proxy: URL): HubError {
  const needsCredentials = status === 407;
  const message = needsCredentials
    ? `The proxy ${proxy.host} asks for credentials`
    : `The proxy ${proxy.host} refused the connection`;
  return new HubError("ConnectionFailed", message, {
    detail: `HTTP status ${status}`,
    hint: needsCredentials ? "Put them into the proxy's URL: http://user:password@host:port" : HINT,
    delivery: needsCredentials || status < 500 ? "rejected" : "unsent",
  });
}

export function unreachableProxy(error: NodeJS.ErrnoException, proxy: URL): HubError {
  const isLate = error.name === "AbortError" || error.name === "TimeoutError";
  return new HubError("ConnectionFailed", `The proxy ${proxy.host} cannot be reached`, {
    detail: isLate ? "It did not answer in time" : (error.code ?? error.message),
    hint: HINT,
    delivery: "unsent",
    cause: error,
  });
}
