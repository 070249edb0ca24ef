// `plugboard-chat import FILE…`: reads export files of chat apps into the store. Again is no harm: what is there stays as it is.

import { Option, type Command } from "commander";
import { openApp, type App } from "../app.ts";
import { readConfig, writeSource } from "../config/file.ts";
import { ChatError, invalid } from "../errors.ts";
import { FileSource, type FileOutcome } from "../files/file-source.ts";
import { recognise } from "../files/importers.ts";
import type { FileImporter, ImportReport } from "../source.ts";
import { Zone } from "../zone.ts";
import { ImportProgress } from "./import-progress.ts";
import type { Context, Io } from "./io.ts";

interface ImportOptions {
  readonly source?: string;
  readonly timeZone?: string;
  readonly dateOrder?: "DMY" | "MDY" | "YMD";
  readonly self?: string;
  readonly json?: boolean;
}

interface Imported extends ImportReport {
  readonly file: string;
  readonly source: string;
  /** Messages that were not there before. */
  readonly added: number;
}

const INTERRUPTED = 130;

export function importCommand(program: Command, { io, done }: Context): void {
  program
    .command("import <file...>")
    .description("read export files: Telegram result.json, WhatsApp .txt or .zip, Signal main.jsonl, our own events")
    .option("--source <id>", "put it into this source; by default one named after the app")
    .option("--time-zone <zone>", "zone of times that carry none, such as Europe/Helsinki")
    .addOption(new Option("--date-order <order>", "where the file leaves it open").choices(["DMY", "MDY", "YMD"]))
    .option("--self <name>", "your own name in the chat, where the file does not tell")
    .option("--json", "machine-readable output")
    .action(async (files: readonly string[], options: ImportOptions) => done(await importFiles(io, files, options)));
}

async function importFiles(io: Io, files: readonly string[], options: ImportOptions): Promise<number> {
  if (options.timeZone !== undefined) requireZone(options.timeZone);
  const app = await openApp({ ...io, log: (line) => io.stderr.write(`${line}\n`) });
  const stop = new AbortController();
  io.onSignal(() => (stop.signal.aborted ? io.exit(INTERRUPTED) : stop.abort()));
  const imported: Imported[] = [];
  try {
    for (const file of files) {
      const importer = await recognise(file);
      const source = options.source ?? importer.sourceKind;
      await addImportSource(app, source);
      const result = await importOne(app, io, importer, { file, source, options, signal: stop.signal });
      imported.push(result);
      if (options.json !== true) printReport(io, result);
    }
    if (options.json === true) io.stdout.write(`${JSON.stringify({ imported }, undefined, 2)}\n`);
    return 0;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    io.stderr.write("Interrupted. What was read so far is stored; import the file again for the rest.\n");
    return INTERRUPTED;
  } finally {
    await app.close();
  }
}

interface ImportOne {
  readonly file: string;
  readonly source: string;
  readonly options: ImportOptions;
  readonly signal: AbortSignal;
}

async function importOne(
  app: App,
  io: Io,
  importer: FileImporter,
  { file, source, options, signal }: ImportOne,
): Promise<Imported> {
  const progress = new ImportProgress(io, file);
  const exported = new FileSource({
    id: source,
    importer,
    path: file,
    timeZone: options.timeZone ?? app.reader.clock.zone.name,
    ...(options.dateOrder === undefined ? {} : { dateOrder: options.dateOrder }),
    ...(options.self === undefined ? {} : { self: options.self }),
    onProgress: (at) => progress.update(at),
  });
  let added = 0;
  await exported.run({
    // The place of a live source with the same id stays: the file is read anew each time that somebody asks for it.
    sink: async (batch) => {
      const events = batch.filter(({ type }) => type !== "checkpoint");
      added += app.store.apply(source, events).messagesAdded;
    },
    checkpoint: {},
    signal,
    now: Date.now,
    // All that is to be told is in the report.
    onState: () => undefined,
    log: { info: () => undefined, warn: () => undefined },
  });
  progress.end();
  return { file, source, added, ...reportOf(exported.outcome) };
}

function reportOf(outcome: FileOutcome): ImportReport {
  if (outcome.state === "read") return outcome.report;
  throw outcome.state === "failed" ? outcome.error : new Error(`The file was left ${outcome.state}`);
}

/** So that agents see it: a source that nobody has configured does not exist for them. */
async function addImportSource(app: App, id: string): Promise<void> {
  const config = await readConfig(app.home);
  if (config.sources[id] !== undefined) return;
  await writeSource(app.home, id, { kind: "import" });
}

function printReport(
  io: Io,
  { file, source, format, messages, chats, added, skipped, notes, problems }: Imported,
): void {
  const found = `${count(messages, "message")} in ${count(chats, "chat")}`;
  io.stdout.write(
    `${file}: ${format}, ${found}; ${number(added)} new in source ${source}, ${number(skipped)} skipped\n`,
  );
  for (const note of notes) io.stdout.write(`  note: ${note}\n`);
  for (const problem of problems) io.stdout.write(`  skipped: ${problem}\n`);
}

function requireZone(name: string): void {
  try {
    void new Zone(name);
  } catch (error) {
    if (error instanceof ChatError) throw error;
    throw invalid("time-zone", `'${name}' is no IANA time zone`, "Use one such as Europe/Helsinki");
  }
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}

/** @example count(1, "chat") // "1 chat" */
function count(value: number, noun: string): string {
  return `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
}
