// Programs that launch a server (npx, uvx, docker, node …). As the first word of `plugboard add` they begin a command line, and
// are never taken for a package name.

const LAUNCHERS: ReadonlySet<string> = new Set(
  "npx npm pnpm pnpx yarn bun bunx deno node nodejs uvx uv pipx python python3 py docker podman nerdctl java dotnet dnx go ruby php perl sh bash zsh env cmd powershell pwsh wsl".split(
    " ",
  ),
);
const VERSIONED = /^python3\.\d{1,2}$/;

/** @example isLauncher("C:\\nodejs\\npx.cmd") // true */
export function isLauncher(word: string): boolean {
  const base = word
    .slice(Math.max(word.lastIndexOf("/"), word.lastIndexOf("\\")) + 1)
    .replace(/\.(?:exe|cmd|bat)$/i, "");
  return LAUNCHERS.has(base) || VERSIONED.test(base);
}

/**
 * Puts `--` before a command line that begins with a launcher, with or without a name before it, so that options after the
 * launcher are not ours.
 * `operands` are the words of `args` that are neither options nor their values.
 *
 * @example separateCommand(["add", "npx", "-y", "x"], ["npx"]) // ["add", "--", "npx", "-y", "x"]
 */
export function separateCommand(args: readonly string[], operands: readonly string[]): string[] {
  const launcher = operands.slice(0, 2).find(isLauncher);
  const at = launcher === undefined ? -1 : args.indexOf(launcher);
  const dashes = args.indexOf("--");
  // A launcher alone starts nothing, and an explicit `--` is respected.
  if (at < 0 || at === args.length - 1 || (dashes >= 0 && dashes < at)) return [...args];
  const rest = args.slice(dashes === at + 1 ? at + 2 : at + 1);
  return [...args.slice(0, at), "--", args[at] ?? "", ...rest];
}
