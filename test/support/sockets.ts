// Ports of servers that tests open on the loopback interface.

import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";

type Listening = Pick<Server, "address">;

/** Listens on a free port of 127.0.0.1 and returns the port. */
export async function listen(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return portOf(server);
}

export function portOf(server: Listening): number {
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server that listens has an address of this form
  return (server.address() as AddressInfo).port;
}

/** A port on which nothing listens, for programs that must be given a number. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, "close");
  return port;
}

/** A port on which nothing listens, nor on the one after it. */
export async function freePortPair(): Promise<number> {
  for (;;) {
    const port = await freePort();
    const next = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      next.once("error", () => resolve(false)).listen(port + 1, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    next.close();
    await once(next, "close");
    return port;
  }
}
