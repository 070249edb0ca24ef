// How commands speak: stdout is the result, stderr everything else. On a terminal with colour and cut to fit; anywhere
// else plain and whole.

import type { ErrorKind, HubError } from "../errors.ts";
import type { Hub } from "../hub.ts";
import { paletteFor, type Palette } from "./color.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { Interrupted } from "./interrupted.ts";
import { indentJson } from "./indent-json.ts";
import { safeJson } from "./safe-json.ts";
import { table, type Cell, type TableOptions } from "./table.ts";
import { printable } from "./text.ts";

export class Output {
  readonly #io: Io;
  readonly json: boolean;
  readonly quiet: boolean;
  /** Somebody looks at the result. */
  readonly terminal: boolean;
  /** Somebody looks at the progress. */
  readonly live: boolean;
  readonly color: Palette;
  /** The same for stderr. */
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

  /** Columns that a line may take; undefined: any number. */
  get width(): number | undefined {
    // A terminal that does not know its width says 0.
    return this.terminal ? this.#io.stdout.columns || undefined : undefined;
  }

  /** The result, as text. */
  print(text: string): void {
    this.#io.stdout.write(text.endsWith("\n") || text === "" ? text : `${text}\n`);
  }

  /** Text that somebody else wrote: as it is for a program, harmless on a terminal. */
  printForeign(text: string): void {
    this.print(this.terminal ? printable(text) : text);
  }

  printBytes(bytes: Uint8Array): void {
    this.#io.stdout.write(bytes);
  }

  table(rows: readonly (readonly Cell[])[], options: TableOptions = {}): void {
    this.print(table(rows, { ...options, width: this.width }));
  }

  /** The result, for programs. */
  data(value: unknown): void {
    printJson(this.#io, value);
  }

  /** A result of somebody else's, as it came: its numbers may be beyond JavaScript's. On a terminal it is laid out. */
  dataBytes(json: Buffer): void {
    const text = safeJson(json.toString());
    this.print(this.terminal ? indentJson(text) : text);
  }

  /** One record of many, one line each. */
  line(value: unknown): void {
    this.#io.stdout.write(`${safeJson(JSON.stringify(value))}\n`);
  }

  /** What a change did: one line, or the data. */
  changed(text: string, value: unknown): void {
    if (this.json) this.data(value);
    else if (!this.quiet) this.print(this.tilde(text));
  }

  /** Paths below the user's home as people write them, wherever they stand in a text. */
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

/** A warning, with the server that it is about. */
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

/** Whether somebody can copy it into a shell. */
export function isCommand(advice: string): boolean {
  return /^(?:plugboard|npm|npx|chmod|chown|kill|rm|docker|printf) /.test(advice);
}

/** What to do about errors that do not say it themselves. */
const FIXES: Readonly<Partial<Record<ErrorKind, string>>> = {
  ServerNotFound: "plugboard ls",
  ToolNotFound: "plugboard tools",
  GroupNotFound: "plugboard group ls",
  SecretNotFound: "plugboard secret ls",
  ServerAlreadyExists: "plugboard ls",
  StaleConfig: "Try again: somebody else has changed it meanwhile",
  ServerNotRunning: "plugboard status",
  ToolFailed: "plugboard tools --schema",
  IoError: "plugboard doctor",
  DatabaseError: "plugboard doctor",
  Unexpected: "plugboard doctor; if that finds nothing, this is a fault of Plugboard: please report it",
};

/** What the hub warns of now, and from now on. */
export function printWarnings(io: Io, hub: Hub): void {
  const print = (message: string) => void io.stderr.write(`warning: ${message}\n`);
  for (const message of hub.warnings) print(message);
  hub.events.on("warning", ({ message, server }) => print(printable(aboutServer(message, server))));
}
