// Opens the user's editor at a position in a file.

import type { FilePosition } from "../../doctor/syntax-errors.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { basename } from "node:path";
import type { GlobalOptions, Io } from "../io.ts";

type PositionArguments = (place: FilePosition) => string[];

const vim: PositionArguments = ({ path, line, column }) => [`+call cursor(${line}, ${column})`, path];
const plusColon: PositionArguments = ({ path, line, column }) => [`+${line}:${column}`, path];
const plus: PositionArguments = ({ path, line }) => [`+${line}`, path];
const colons: PositionArguments = ({ path, line, column }) => [`${path}:${line}:${column}`];
const vscode: PositionArguments = (place) => ["--wait", "--goto", ...colons(place)];

/** How each editor takes a position. Others get the file alone: they might take a position for a file name. */
const EDITORS: Readonly<Record<string, PositionArguments>> = {
  vim,
  nvim: vim,
  gvim: vim,
  nano: ({ path, line, column }) => [`+${line},${column}`, path],
  emacs: plusColon,
  emacsclient: plusColon,
  micro: plusColon,
  kak: plusColon,
  vi: plus,
  joe: plus,
  mg: plus,
  gedit: plus,
  code: vscode,
  "code-insiders": vscode,
  codium: vscode,
  cursor: vscode,
  windsurf: vscode,
  subl: colons,
  zed: colons,
  hx: colons,
  helix: colons,
};

/** Undefined if $EDITOR is not set, or without a terminal. */
export function findEditor({ env, stdin, stdout }: Io, { input, json }: GlobalOptions): string | undefined {
  if (stdin.isTTY !== true || stdout.isTTY !== true || input === false || json === true) return undefined;
  return env["VISUAL"] || env["EDITOR"] || undefined;
}

export function positionArguments(editor: string, place: FilePosition): string[] {
  const program = basename(editor.trim().split(/\s+/)[0] ?? "").replace(/\.(?:exe|cmd)$/, "");
  return Object.hasOwn(EDITORS, program) ? (EDITORS[program]?.(place) ?? []) : [place.path];
}

/** Resolves when the editor has exited, with any status. */
export async function edit(io: Io, editor: string, place: FilePosition): Promise<void> {
  // Ctrl-C belongs to the editor while it runs.
  let editing = true;
  io.onSignal(() => {
    if (!editing) io.exit(130);
  });
  const words = positionArguments(editor, place);
  // EDITOR is a shell command line, such as "code --wait".
  const child =
    io.platform === "win32"
      ? spawn(`${editor} ${words.map((word) => `"${word}"`).join(" ")}`, { shell: true, stdio: "inherit" })
      : spawn("sh", ["-c", `${editor} "$@"`, editor, ...words], { stdio: "inherit", env: { ...io.env } });
  await once(child, "exit").catch(() => undefined); // it could not be started
  editing = false;
}
