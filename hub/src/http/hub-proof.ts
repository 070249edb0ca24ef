// The hub's half of the identity check: answers a nonce with an HMAC by the management token, so that a command knows that
// the program at an address is its hub before it sends the token there. The other half is cli/hub-access/hub-identity.ts.

import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

export const PROOF_PATH = "/.well-known/plugboard-hub";
const NONCE = /^[0-9a-f]{64}$/;

/** Answers the proof path only; returns false for every other one. */
export function proofEdge(
  token: string,
  pid: number,
): (request: Pick<IncomingMessage, "url" | "method" | "socket">, response: ServerResponse) => boolean {
  return ({ url = "", method, socket }, response) => {
    const [path, query = ""] = url.split("?", 2);
    if (path !== PROOF_PATH) return false;
    const [, nonce, byAddress] = /^nonce=([0-9a-f]{64})(&by=address)?$/.exec(query) ?? [];
    if (method !== "GET" || nonce === undefined) {
      response
        .writeHead(400, { "content-type": "application/json" })
        .end('{"code":"VALIDATION_ERROR","message":"Missing nonce"}');
      return true;
    }
    // Includes the port, so that the nonce cannot be relayed to a hub on another port.
    const port = socket.localPort ?? 0;
    const proof = proofOf(token, { nonce, port, pid: byAddress === undefined ? pid : undefined });
    response
      .writeHead(200, { "content-type": "application/json", "cache-control": "no-store" })
      .end(JSON.stringify({ proof }));
    return true;
  };
}

export function proofOf(
  token: string,
  { nonce, port, pid }: { nonce: string; port: number; pid: number | undefined },
): string {
  if (!NONCE.test(nonce)) throw new Error("Invalid nonce");
  return createHmac("sha256", token)
    .update(`plugboard hub ${nonce} ${port} ${pid ?? "by address"}`)
    .digest("hex");
}
