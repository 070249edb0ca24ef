// Interprets the arguments of `plugboard add`: a target and its name, or a name and a command.

import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { HubError } from "../../errors.ts";
import { exists } from "@plugboard/shared/files/exists";
import { hideAll, maskArgs, maskUrl } from "../../redaction/mask.ts";
import { findProgram } from "../../lib/files/find-program.ts";
import type { Io } from "../io.ts";
import { quoted } from "../../lib/quoted.ts";
import { isLauncher } from "../../entry-input/launch-words.ts";
import { fromCommand, isBareName, isTarget, parseTarget, type Target } from "../../entry-input/target.ts";

/** The words after the first `--`; undefined without one. */
export function wordsAfterDashes(args: readonly string[]): string[] | undefined {
  const at = args.indexOf("--");
  return at < 0 ? undefined : args.slice(at + 1);
}

/** A target, and the command line that would add it under another name or with more options. */
export interface Given extends Target {
  /** A package name that does not say which registry it is on. */
  readonly bare?: string;
  /** The server's own arguments. */
  readonly args: readonly string[];
  again(change: { readonly target?: string; readonly name?: string; readonly options?: string }): string;
}

/**
 * Two words before `--` are a target and its name, with its arguments after `--`. One word is a target too, unless it can
 * only be the name of the command that follows.
 */
export async function toTarget(
  io: Pick<Io, "stdin" | "env">,
  operands: readonly string[],
  after: readonly string[] | undefined,
): Promise<Given> {
  const before = operands.slice(0, operands.length - (after?.length ?? 0));
  const [first, second, third] = before;
  if (third !== undefined) {
    throw new HubError("InvalidArgument", `Unexpected argument "${third}"`, {
      hint: `To add a command with arguments: plugboard add NAME -- ${before.join(" ")}`,
    });
  }
  const cwd = process.cwd();
  const rest = after ?? [];
  if (rest.length > 0 && second === undefined && (first === undefined || (await isCommand(first, rest, io)))) {
    const words = await withPaths(rest, cwd);
    const target = fromCommand(words, cwd);
    return {
      ...target,
      ...(first === undefined ? {} : { name: first }),
      args: [],
      again: ({ name = first ?? target.name, options = "" }) => typed([name, options, "--", ...shown(words)]),
    };
  }
  if (first === undefined) throw new HubError("InvalidArgument", "Missing server", { hint: `plugboard add --help` });
  const text = first === "-" ? await readAll(io.stdin) : first;
  const target = parseTarget(text, { args: rest, cwd });
  return {
    ...target,
    ...(second === undefined ? {} : { name: second }),
    ...(isBareName(first) ? { bare: first } : {}),
    args: rest,
    again: ({ target: other = first, name = second ?? "", options = "" }) =>
      typed([shownTarget(other), name, options, ...(rest.length === 0 ? [] : ["--", ...shown(rest)])]),
  };
}

/** Credentials are left for the user to fill in, since the printed line may end up in a log. */
function shown(words: readonly string[]): string[] {
  return maskArgs(words, hideAll).map(quoted);
}

function shownTarget(target: string): string {
  return target.trimStart().startsWith("{") ? "'{…}'" : quoted(maskUrl(target, hideAll));
}

function typed(words: readonly string[]): string {
  return ["plugboard add", ...words.filter((word) => word !== "")].join(" ");
}

/** Whether `first -- rest` is a name and a command, and not a package and its arguments. */
async function isCommand(first: string, rest: readonly string[], { env }: Pick<Io, "env">): Promise<boolean> {
  const [program = ""] = rest;
  if (isTarget(first) || program.startsWith("-")) return false;
  if (isLauncher(program) || !isBareName(first)) return true;
  const isFolder = await stat(program).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return !isFolder && (/[/\\]/.test(program) || (await findProgram(program, env["PATH"])) !== undefined);
}

/** The hub may run in another folder, so relative script paths become absolute. */
async function withPaths(words: readonly string[], cwd: string): Promise<string[]> {
  const [command = "", ...args] = words;
  const at = isLauncher(command) ? args.findIndex((word) => !word.startsWith("-")) : -1;
  const script = args[at];
  if (script === undefined || !/\.[cm]?[jt]s$|\.py$|\.sh$|\.rb$|\.php$|\.jar$/.test(script)) return [...words];
  const path = resolve(cwd, script);
  return (await exists(path)) ? [command, ...args.with(at, path)] : [...words];
}
