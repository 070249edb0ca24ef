// The type of a command file: a function that registers its command with commander.

import type { Command } from "commander";
import type { Io } from "./io.ts";

export interface CommandContext {
  readonly io: Io;
  /** The raw arguments. Commander does not say which of them come after `--`. */
  readonly args: readonly string[];
  /** Sets the exit code, which is 0 otherwise. */
  readonly done: (exitCode: number) => void;
}

export type Register = (program: Command, context: CommandContext) => void;
