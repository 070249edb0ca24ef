// Which program of a package npx would run, and how it is run without npx.

import { open } from "node:fs/promises";
import { extname, join, resolve, sep } from "node:path";
import * as z from "zod/mini";

/** What a package says of itself in its package.json, as far as it matters here. */
export const manifest = z.looseObject({
  name: z.string(),
  version: z.string(),
  bin: z.optional(z.union([z.string(), z.record(z.string(), z.string())])),
});
export type Manifest = z.infer<typeof manifest>;

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

const SHEBANG_BYTES = 256;

/** The file of a package's program, from the package's folder. The rules are npx's own. */
export function findBin(said: Manifest, program?: string): string | undefined {
  const unscoped = unscopedOf(said);
  const bins = binsOf(said);
  const files = [...new Set(Object.values(bins))];
  const wanted = program ?? (files.length === 1 ? Object.keys(bins)[0] : unscoped);
  return wanted !== undefined && Object.hasOwn(bins, wanted) ? bins[wanted] : undefined;
}

/** All programs of a package: their files by name. */
export function binsOf(said: Manifest): Readonly<Record<string, string>> {
  const { bin = {} } = said;
  return typeof bin === "string" ? { [unscopedOf(said)]: bin } : bin;
}

function unscopedOf({ name }: Manifest): string {
  return name.replace(/^@[^/]+\//, "");
}

/** A file inside of a folder; undefined where it would be outside. */
export function inside(folder: string, file: string): string | undefined {
  const path = resolve(folder, file);
  return path.startsWith(join(folder, sep)) ? path : undefined;
}

/** With node itself where that is what the file asks for; else as the program that it is. */
export async function toProgram(file: string, node: string): Promise<Program> {
  const first = await firstLine(file);
  // The kernel takes all behind the interpreter as one option.
  const [, interpreter, rest = ""] = /^#!\s*(\S+)(.*)/.exec(first) ?? [];
  const option = rest.trim() || undefined;
  const isScript = [".js", ".mjs", ".cjs"].includes(extname(file));
  const asksForNode =
    interpreter === undefined
      ? isScript
      : (/(?:^|\/)env$/.test(interpreter) && option === "node") ||
        (/(?:^|\/)node$/.test(interpreter) && option === undefined);
  // Windows knows nothing of such lines.
  return asksForNode || (isScript && process.platform === "win32")
    ? { command: node, args: [file] }
    : { command: file, args: [] };
}

async function firstLine(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SHEBANG_BYTES), 0, SHEBANG_BYTES, 0);
    return buffer.toString("latin1", 0, bytesRead).split("\n", 1)[0] ?? "";
  } finally {
    await file.close();
  }
}
