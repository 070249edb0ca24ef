// Who a request comes from, as far as the hub can tell. Not for display: a credential is never kept, only its digest.

import { createHash } from "node:crypto";
import type { Exchange } from "../wire/server.ts";

export function principalOf({ headers }: Pick<Exchange, "headers">): string {
  const credential = headers["authorization"];
  return typeof credential === "string" ? createHash("sha256").update(credential).digest("base64url") : "local";
}
