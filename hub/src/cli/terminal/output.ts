// Output of commands: results on stdout, everything else on stderr. Coloured and cut to the width on a terminal, plain and whole
// elsewhere.

import type { ErrorKind, HubError } from "../../errors.ts";
import type { Hub } from "../../hub/hub.ts";
import { paletteFor, type Palette } from "./color.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { Interrupted } from "../interrupted.ts";
import { indentJson } from "../../lib/json/indent-json.ts";
import { safeJson } from "../../lib/json/safe-json.ts";
import { table, type Cell, type TableOptions } from "./table.ts";
import { printable } from "./text.ts";

export class Output {
  readonly #io: Io;
  readonly json: boolean;
  readonly quiet: boolean;
  /** stdout is a terminal. */
  readonly terminal: boolean;
  /** stderr is a terminal and progress may be shown. */
  readonly live: boolean;
  readonly color: Palette;
  /** The palette for stderr. */
  readonly noteColor: Palette;

  constructor(io: Io, options: GlobalOptions) {
    this.#io = io;
    this.json = options.json === true;
    this.quiet = options.quiet === true;
    this.terminal = io.stdout.isTTY === true;
    this.live = io.stderr.isTTY === true && io.env["TERM"] !== "dumb" && !this.json && !this.quiet;
    this.color = paletteFor(io, "stdout", options);
    this.noteColor = paletteFor(io, "stderr", options);
  }

  /** Width of the terminal in columns; undefined if unlimited. */
  get width(): number | undefined {
    // A terminal that does not know its width reports 0.
    return this.terminal ? this.#io.stdout.columns || undefined : undefined;
  }

  /** Prints the result as text. */
  print(text: string): void {
    this.#io.stdout.write(text.endsWith("\n") || text === "" ? text : `${text}\n`);
  }

  /** Prints text from servers: unchanged for a pipe, without control characters on a terminal. */
  printForeign(text: string): void {
    this.print(this.terminal ? printable(text) : text);
  }

  printBytes(bytes: Uint8Array): void {
    this.#io.stdout.write(bytes);
  }

  table(rows: readonly (readonly Cell[])[], options: TableOptions = {}): void {
    this.print(table(rows, { ...options, width: this.width }));
  }

  /** Prints the result as JSON. */
  data(value: unknown): void {
    printJson(this.#io, value);
  }

  /** Prints JSON bytes unchanged, since numbers may exceed JavaScript's range. Indented on a terminal. */
  dataBytes(json: Buffer): void {
    const text = safeJson(json.toString());
    this.print(this.terminal ? indentJson(text) : text);
  }

  /** Prints one record as a line of JSON. */
  line(value: unknown): void {
    this.#io.stdout.write(`${safeJson(JSON.stringify(value))}\n`);
  }

  /** Prints what a change did: one line, or JSON. */
  changed(text: string, value: unknown): void {
    if (this.json) this.data(value);
    else if (!this.quiet) this.print(this.tilde(text));
  }

  /** Shortens the user's home folder to ~ anywhere in a text. */
  tilde(text: string): string {
    const { home } = this.#io;
    return home.length > 1 ? text.replaceAll(`${home}/`, "~/") : text;
  }

  note(text: string): void {
    if (!this.quiet) this.#io.stderr.write(`${text}\n`);
  }

  warn(text: string): void {
    this.note(`warning: ${text}`);
  }
}

export function printJson(io: Io, value: unknown): void {
  io.stdout.write(`${safeJson(JSON.stringify(value, null, 2))}\n`);
}

/** Prefixes a warning with its server. */
export function aboutServer(message: string, server: string | undefined): string {
  return server === undefined ? message : `${server}: ${message}`;
}

export function printError(error: HubError, io: Io, options: GlobalOptions): void {
  if (options.json === true) {
    io.stderr.write(`${safeJson(JSON.stringify(error))}\n`);
    return;
  }
  if (error instanceof Interrupted) return;
  const { bad, strong } = paletteFor(io, "stderr", options);
  const lines = [`${bad("error:")} ${indented(error.message)}`];
  if (error.field !== undefined) lines.push(`  field: ${indented(error.field)}`);
  if (error.detail !== undefined) lines.push(`  cause: ${indented(error.detail)}`);
  if (error.kind === "Unexpected" && error.cause instanceof Error) lines.push(`  cause: ${error.cause.stack}`);
  const advice = error.hint ?? FIXES[error.kind];
  if (advice !== undefined)
    lines.push(isCommand(advice) ? `  fix:   ${strong(indented(advice))}` : `  note:  ${indented(advice)}`);
  io.stderr.write(`${lines.join("\n")}\n`);
}

function indented(text: string): string {
  return printable(text).split("\n").join("\n         ");
}

/** Whether the hint is a shell command. */
export function isCommand(advice: string): boolean {
  return /^(?:plugboard|npm|npx|chmod|chown|kill|rm|docker|printf) /.test(advice);
}

/** Hints for errors that have none. */
const FIXES: Readonly<Partial<Record<ErrorKind, string>>> = {
  ServerNotFound: "plugboard ls",
  ToolNotFound: "plugboard tools",
  GroupNotFound: "plugboard group ls",
  SecretNotFound: "plugboard secret ls",
  ServerAlreadyExists: "plugboard ls",
  Conflict: "Try again: it was changed in the meantime",
  ServerNotRunning: "plugboard status",
  ToolFailed: "plugboard tools --schema",
  IoError: "plugboard doctor",
  DatabaseError: "plugboard doctor",
  Unexpected: "plugboard doctor; if it finds nothing, please report this as a bug",
};

/** Prints current and future warnings of the hub. */
export function printWarnings(io: Io, hub: Hub): void {
  const print = (message: string) => void io.stderr.write(`warning: ${message}\n`);
  for (const message of hub.warnings) print(message);
  hub.events.on("warning", ({ message, server }) => print(printable(aboutServer(message, server))));
}
