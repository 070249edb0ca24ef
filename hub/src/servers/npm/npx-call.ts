// Parses a command line of npx that names one package of the registry. Everything else that npx can do is left to npx.

import { dirname, join } from "node:path";
import { isIdentifier } from "../../config/schema/identifier.ts";
import { exists } from "@plugboard/shared/files/exists";

export interface NpxCall {
  /** As it is written: `@scope/name@^1.2`. */
  readonly spec: string;
  readonly name: string;
  /** A version, a range or a tag. May be empty. */
  readonly wanted: string;
  /** The version, if the spec allows only one. */
  readonly exact: string | undefined;
  /** The program of the package, if it is named (`-p package program`). */
  readonly program: string | undefined;
  /** The server's own arguments. */
  readonly args: readonly string[];
}

const EXACT = /^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$/;
/** npm treats such a name as a file. */
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
      // With several packages only npx knows which one has the program.
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

/** In a project npx may run a local package, or use other registries. */
const PROJECT_FILES = ["package.json", "node_modules", ".npmrc"];

/** Whether the folder, or one above it and below the home folder, is a project of npm. */
export async function isInProject(folder: string, home: string | undefined): Promise<boolean> {
  if (folder === home) return false;
  const found = await Promise.all(PROJECT_FILES.map((name) => exists(join(folder, name))));
  const parent = dirname(folder);
  return found.includes(true) || (parent !== folder && isInProject(parent, home));
}
