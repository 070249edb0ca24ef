// Secrets of OAuth clients: only digests of them are kept.

import { hash } from "node:crypto";

export function digestOfSecret(secret: string): string {
  return hash("sha256", secret, "base64");
}

/** Whether a client has presented the secret of a digest. */
export function isSecret(presented: unknown, kept: unknown): boolean {
  return typeof presented === "string" && kept === digestOfSecret(presented);
}
