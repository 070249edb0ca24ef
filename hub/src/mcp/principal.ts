// Who a request comes from, as far as the hub can tell. Not for display: a credential is never kept, only its digest.

import { createHash } from "node:crypto";
import type { Exchange } from "../wire/server.ts";

export function principalOf({ headers }: Pick<Exchange, "headers">): string {
  const credential = headers["authorization"];
  return typeof credential === "string" ? createHash("sha256").update(credential).digest("base64url") : "local";
}

/** Clients that shook hands are told apart; of the others nothing is known but the user behind them, if even that. */
export function callerOf(exchange: Pick<Exchange, "headers" | "session">): string | undefined {
  if (exchange.session !== undefined) return `session ${exchange.session.id}`;
  return exchange.headers["authorization"] === undefined ? undefined : `principal ${principalOf(exchange)}`;
}
