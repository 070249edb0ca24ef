// Finds the program of a package that npx would run, and how to run it without npx.

import { open } from "node:fs/promises";
import { extname, join, resolve, sep } from "node:path";
import * as z from "zod/mini";

/** The parts of a package.json that matter here. */
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

/** The file of a package's program, relative to the package. By the rules of npx. */
export function findBin(packageJson: Manifest, program?: string): string | undefined {
  const unscoped = unscopedOf(packageJson);
  const bins = binsOf(packageJson);
  const files = [...new Set(Object.values(bins))];
  const wanted = program ?? (files.length === 1 ? Object.keys(bins)[0] : unscoped);
  return wanted !== undefined && Object.hasOwn(bins, wanted) ? bins[wanted] : undefined;
}

/** The files of all programs of a package, by name. */
export function binsOf(packageJson: Manifest): Readonly<Record<string, string>> {
  const { bin = {} } = packageJson;
  return typeof bin === "string" ? { [unscopedOf(packageJson)]: bin } : bin;
}

function unscopedOf({ name }: Manifest): string {
  return name.replace(/^@[^/]+\//, "");
}

/** The path of a file in a folder. Undefined if it would be outside. */
export function inside(folder: string, file: string): string | undefined {
  const path = resolve(folder, file);
  return path.startsWith(join(folder, sep)) ? path : undefined;
}

/** Run by node if its shebang is node, otherwise directly. */
export async function toProgram(file: string, node: string): Promise<Program> {
  const first = await firstLine(file);
  // The kernel passes everything after the interpreter as one argument.
  const [, interpreter, rest = ""] = /^#!\s*(\S+)(.*)/.exec(first) ?? [];
  const option = rest.trim() || undefined;
  const isScript = [".js", ".mjs", ".cjs"].includes(extname(file));
  const asksForNode =
    interpreter === undefined
      ? isScript
      : (/(?:^|\/)env$/.test(interpreter) && option === "node") ||
        (/(?:^|\/)node$/.test(interpreter) && option === undefined);
  // Windows does not support shebangs.
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
