// What a command line of npx means, where that is beyond doubt: one package of the registry, and what it is started with.
// Pure. Everything else that npx can do is left to npx.

import { isIdentifier } from "../../config/identifier.ts";

export interface NpxCall {
  /** As it is written: `@scope/name@^1.2`. */
  readonly spec: string;
  readonly name: string;
  /** A version, a range or a tag; empty where none is given. */
  readonly wanted: string;
  /** The one version that is meant, where it can be no other. */
  readonly exact: string | undefined;
  /** The program of the package, where it is named (`-p package program`). */
  readonly program: string | undefined;
  /** The server's own arguments. */
  readonly args: readonly string[];
}

const EXACT = /^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$/;
/** npm takes such a name for a file. */
const ARCHIVE = /\.(?:tgz|tar\.gz|tar)$/i;
const PROGRAM = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
const NAME_MAX = 214;

/** @example parseNpx(["-y", "@scope/name@1.2.3", "--port", "1"])?.exact // "1.2.3" */
export function parseNpx(args: readonly string[]): NpxCall | undefined {
  let given: string | undefined;
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    if (word === "-y" || word === "--yes") continue;
    const inOne = /^(?:-p|--package)=(.+)$/s.exec(word)?.[1];
    const value = inOne ?? (word === "-p" || word === "--package" ? args[++at] : undefined);
    if (value !== undefined) {
      // Several packages: which of them has the program, only npx knows.
      if (given !== undefined) return undefined;
      given = value;
      continue;
    }
    const first = word === "--" ? at + 1 : at;
    if (word !== "--" && word.startsWith("-")) return undefined;
    return toCall(given, args.slice(first));
  }
  return undefined;
}

function toCall(given: string | undefined, [first, ...args]: readonly string[]): NpxCall | undefined {
  if (first === undefined) return undefined;
  const spec = given ?? first;
  if (given !== undefined && !PROGRAM.test(first)) return undefined;
  if (!isIdentifier("npm", spec) || ARCHIVE.test(spec)) return undefined;
  const at = spec.lastIndexOf("@");
  const name = at > 0 ? spec.slice(0, at) : spec;
  const wanted = at > 0 ? spec.slice(at + 1) : "";
  if (name.length > NAME_MAX || ARCHIVE.test(name)) return undefined;
  return { spec, name, wanted, exact: EXACT.exec(wanted)?.[1], program: given === undefined ? undefined : first, args };
}
