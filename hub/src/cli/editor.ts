// The user's editor, opened at a place in a file.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { basename } from "node:path";
import type { GlobalOptions, Io } from "./io.ts";

export interface Place {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

type Words = (place: Place) => string[];

const vim: Words = ({ path, line, column }) => [`+call cursor(${line}, ${column})`, path];
const plusColon: Words = ({ path, line, column }) => [`+${line}:${column}`, path];
const plus: Words = ({ path, line }) => [`+${line}`, path];
const colons: Words = ({ path, line, column }) => [`${path}:${line}:${column}`];
const vscode: Words = (place) => ["--wait", "--goto", ...colons(place)];

/** How each is told the place. Any other gets the file alone: it might take a place for a file's name. */
const EDITORS: Readonly<Record<string, Words>> = {
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

/** Undefined where nobody has set one, or where nobody sits at a terminal. */
export function findEditor({ env, stdin, stdout }: Io, { input, json }: GlobalOptions): string | undefined {
  if (stdin.isTTY !== true || stdout.isTTY !== true || input === false || json === true) return undefined;
  return env["VISUAL"] || env["EDITOR"] || undefined;
}

export function placeWords(editor: string, place: Place): string[] {
  const program = basename(editor.trim().split(/\s+/)[0] ?? "").replace(/\.(?:exe|cmd)$/, "");
  return Object.hasOwn(EDITORS, program) ? (EDITORS[program]?.(place) ?? []) : [place.path];
}

/** Resolves when the editor has ended, however. */
export async function edit(io: Io, editor: string, place: Place): Promise<void> {
  // Ctrl-C is the editor's own while it runs.
  let editing = true;
  io.onSignal(() => {
    if (!editing) io.exit(130);
  });
  const words = placeWords(editor, place);
  // EDITOR is a command line ("code --wait"), for a shell to read.
  const child =
    io.platform === "win32"
      ? spawn(`${editor} ${words.map((word) => `"${word}"`).join(" ")}`, { shell: true, stdio: "inherit" })
      : spawn("sh", ["-c", `${editor} "$@"`, editor, ...words], { stdio: "inherit", env: { ...io.env } });
  await once(child, "exit").catch(() => undefined); // it could not be started: the file is as it was
  editing = false;
}
