// What makes two servers the same one, whatever they are called: the program and its arguments, or the address, and the
// names of what they are given. Values are left out: a credential is changed without making another server of it.

import { hideAll, maskArgs, maskUrl, MASK } from "../config/mask.ts";

/** Of an entry as it is saved, or as the hub shows it with its secrets hidden. */
export interface Recognisable {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly url?: string | undefined;
  readonly env?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
}

export function fingerprintOf({ command, args = [], url, env = {}, headers = {} }: Recognisable): string {
  if (url !== undefined) {
    const address = maskUrl(url, hideAll).replaceAll(/\$\{[^}]*(?:\}|$)/g, MASK);
    return JSON.stringify(["url", address, sorted(headers).map((name) => name.toLowerCase())]);
  }
  return JSON.stringify(["command", command, maskArgs(args, hideAll), sorted(env)]);
}

function sorted(record: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(record).toSorted();
}
