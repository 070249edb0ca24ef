// Which npm installs a server's package, and which node runs it: those that the npx of its entry would be.

import { realpath } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { exists } from "../../exists.ts";

export interface NpmTools {
  readonly node: string;
  /** npm as a command line without its arguments. */
  readonly npm: readonly [command: string, ...args: string[]];
}

export interface ToolsOptions {
  /** As the entry has it: `npx`, or a path to one. */
  readonly command: string;
  /** The PATH that the entry gives to the server itself. */
  readonly ownPath: string | undefined;
  readonly path: string | undefined;
}

/** Undefined where there is no npm: then npx has to be asked, whatever that is. */
export async function findTools({ command, ownPath, path }: ToolsOptions): Promise<NpmTools | undefined> {
  for (const folder of foldersOf({ command, ownPath, path })) {
    const npm = await npmIn(folder);
    if (npm === undefined) continue;
    const beside = join(folder, process.platform === "win32" ? "node.exe" : "node");
    const node = folder !== dirname(process.execPath) && (await exists(beside)) ? beside : process.execPath;
    const [program] = npm;
    return { node, npm: program.endsWith(".js") ? [node, program] : npm };
  }
  return undefined;
}

/** Whoever names one npx, or gives the server a PATH of its own, means that one; else it is the hub's own Node. */
function foldersOf({ command, ownPath, path = "" }: ToolsOptions): string[] {
  if (/[/\\]/.test(command)) return [dirname(command)];
  const folders = (ownPath ?? path).split(delimiter).filter((folder) => isAbsolute(folder));
  return ownPath === undefined ? [dirname(process.execPath), ...folders] : folders;
}

/** As a script for node where it is one: `npm` itself would take the first node of the PATH, which may be another. */
async function npmIn(folder: string): Promise<[string] | undefined> {
  if (process.platform === "win32") {
    const script = join(folder, "node_modules", "npm", "bin", "npm-cli.js");
    return (await exists(script)) ? [script] : undefined;
  }
  const npm = join(folder, "npm");
  const real = await realpath(npm).catch(() => undefined);
  if (real === undefined) return undefined;
  return [real.endsWith(".js") ? real : npm];
}
