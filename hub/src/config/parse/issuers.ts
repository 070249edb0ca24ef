// Checks `auth.issuers` of hub.json beyond the shape of each entry.

import { HubError } from "../../errors.ts";
import type { IssuerEntry } from "../schema/issuer.ts";
import { isLoopback } from "./auth.ts";

/** Throws InvalidConfig for entries that would let in others than those that were meant, or no one. */
export function requireValidIssuers(entries: readonly IssuerEntry[]): void {
  const seen = new Set<string>();
  for (const [index, { issuer, jwks_uri, introspection }] of entries.entries()) {
    const field = (name: string) => `auth.issuers.${index}.${name}`;
    requireAddress(issuer, field("issuer"));
    if (jwks_uri !== undefined) requireAddress(jwks_uri, field("jwks_uri"));
    if (introspection?.endpoint !== undefined) requireAddress(introspection.endpoint, field("introspection.endpoint"));
    if (seen.has(issuer)) {
      throw new HubError("InvalidConfig", `auth.issuers has two entries for ${issuer}`, {
        field: field("issuer"),
        hint: "Write one entry with everything that its tokens may be accepted for",
      });
    }
    seen.add(issuer);
  }
}

/** Keys that come over plain http could be anyone's. */
function requireAddress(text: string, field: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  const isPlain = url !== undefined && url.username === "" && url.password === "" && url.hash === "";
  if (isSafe && isPlain) return;
  throw new HubError("InvalidConfig", `${field} must be an https address`, {
    field,
    hint: "http is accepted for addresses of this machine only",
  });
}
