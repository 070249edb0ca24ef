// What one hub says to another with each request: who the caller is and what it may do, signed with a key that only the hubs have.
// The hub that the client has reached decides; the other one does not ask again.

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import * as z from "zod/mini";

export const PEER_HEADER = "plugboard-peer";
/** The clocks of two hubs may differ by this much. */
const VALID_MS = 30_000;

const peerClaims = z.object({
  /** The hub that is meant. */
  to: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  method: z.string(),
  session: z.string(),
  endpoint: z.object({
    edge: z.enum(["groups", "api"]),
    group: z.string(),
    readOnly: z.boolean(),
    exposure: z.optional(z.enum(["all", "search"])),
  }),
  /** Undefined: a program without credentials of the hub. */
  requester: z.optional(
    z.object({
      principal: z.string(),
      owner: z.string(),
      client: z.optional(z.string()),
      clientName: z.optional(z.string()),
    }),
  ),
  /** Of the body. */
  digest: z.string(),
});

export type PeerClaims = z.infer<typeof peerClaims>;

export function digestOf(body: Buffer): string {
  return createHash("sha256").update(body).digest("base64url");
}

/** The value of the header. */
export function signClaims(key: Buffer, claims: PeerClaims): string {
  const text = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return `${text}.${macOf(key, text).toString("base64url")}`;
}

/** Undefined: not signed with this key, not for this hub, or too old. */
export function verifyClaims(key: Buffer, header: unknown, to: string, now = Date.now()): PeerClaims | undefined {
  const [text, mac, ...rest] = typeof header === "string" ? header.split(".") : [];
  if (text === undefined || mac === undefined || rest.length > 0) return undefined;
  const [given, own] = [Buffer.from(mac, "base64url"), macOf(key, text)];
  if (given.length !== own.length || !timingSafeEqual(given, own)) return undefined;
  const claims = peerClaims.safeParse(JSON.parse(Buffer.from(text, "base64url").toString()));
  if (!claims.success || claims.data.to !== to || Math.abs(claims.data.at - now) > VALID_MS) return undefined;
  return claims.data;
}

function macOf(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
