// Loaded before peers that have no option for the address to listen on, which would otherwise be reachable from the network.

import { Server } from "node:net";

// eslint-disable-next-line typescript/unbound-method -- called with the server below
const listen = Server.prototype.listen;

Server.prototype.listen = function (this: Server, ...args: unknown[]): Server {
  const [first, ...rest] = args;
  const callback = rest.find((value) => typeof value === "function");
  const options = typeof first === "object" && first !== null ? first : { port: Number(first) };
  return Reflect.apply(listen, this, [
    { ...options, host: "127.0.0.1" },
    ...(callback === undefined ? [] : [callback]),
  ]);
};
