// Who a client's request comes from. The one place that says so: today by the credentials that the client shows, unchecked.

import { createHash } from "node:crypto";
import { LOCAL, type Caller } from "../servers/caller.ts";
import type { Exchange } from "../wire/server.ts";

/** The user behind a request: the same credentials are the same user, and none are whoever may use this machine. */
export function principalOf({ headers }: Pick<Exchange, "headers">): string {
  const { authorization } = headers;
  if (typeof authorization !== "string" || authorization === "") return LOCAL.principal();
  // A digest: it is kept as long as what it names, and the credentials need not be.
  return createHash("sha256").update(authorization).digest("base64url");
}

export function callerOf(exchange: Pick<Exchange, "headers" | "session">): Caller {
  return { session: exchange.session?.id, principal: () => principalOf(exchange) };
}

/**
 * Clients that shook hands are told apart, and those with a pipe of their own. Of the others nothing is known but the user
 * behind them, if even that.
 */
export function clientKey(exchange: Pick<Exchange, "headers" | "session" | "connection">): string | undefined {
  if (exchange.session !== undefined) return `session ${exchange.session.id}`;
  if (exchange.connection !== undefined) return `connection ${exchange.connection}`;
  return exchange.headers["authorization"] === undefined ? undefined : `principal ${principalOf(exchange)}`;
}
