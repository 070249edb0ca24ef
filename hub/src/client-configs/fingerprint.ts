// Identifies a server independently of its name: by program and arguments, or by URL, and by the names of its variables and
// headers. Values do not count, because a changed credential does not make it another server.

import { isObject } from "../lib/json/json.ts";
import { hideAll, maskArgs, maskUrl, MASK } from "../redaction/mask.ts";

/** An entry as saved, or as the hub shows it with masked secrets. */
export interface FingerprintInput {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly url?: string | undefined;
  readonly env?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  readonly auth?: unknown;
}

export function fingerprintOf({ command, args = [], url, env = {}, headers = {}, auth }: FingerprintInput): string {
  if (url !== undefined) {
    const address = maskUrl(url, hideAll).replaceAll(/\$\{[^}]*(?:\}|$)/g, MASK);
    // Servers of several tenants may have one address.
    const tenant = isObject(auth) && typeof auth["resource"] === "string" ? [auth["resource"]] : [];
    return JSON.stringify(["url", address, sorted(headers).map((name) => name.toLowerCase()), ...tenant]);
  }
  return JSON.stringify(["command", command, maskArgs(args, hideAll), sorted(env)]);
}

function sorted(record: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(record).toSorted();
}
