// `plugboard-chat import FILE…`: reads export files of chat apps into the store. Importing is idempotent: a second import adds
// only what is new.

import { Option, type Command } from "commander";
import { openApp, type App } from "../app.ts";
import { readConfig, writeSource } from "../config/file.ts";
import { SOURCE_ID } from "../config/schema.ts";
import { ChatError, invalid } from "../errors.ts";
import { FileSource, type FileOutcome } from "../importers/file-source.ts";
import { detectImporter } from "../importers/importers.ts";
import { parseLimit } from "../importers/import-limits.ts";
import type { FileImporter, ImportLimits, ImportReport } from "../model/source.ts";
import { count, inDigits } from "../lib/words.ts";
import { Zone } from "../model/zone.ts";
import { ImportProgress } from "./import-progress.ts";
import type { Context, Io } from "./io.ts";

interface ImportOptions {
  readonly source?: string;
  readonly timeZone?: string;
  readonly dateOrder?: "DMY" | "MDY" | "YMD";
  readonly self?: string;
  readonly max?: readonly string[];
  readonly json?: boolean;
}

interface Imported extends ImportReport {
  readonly file: string;
  readonly source: string;
  /** Messages that were not in the store before. */
  readonly added: number;
}

interface ImportResult {
  readonly imported: Imported;
  /** The file has no messages, edits, reactions or other events in a chat. */
  readonly isEmpty: boolean;
}

const FAILED = 1;
const INTERRUPTED = 130;

export function importCommand(program: Command, { io, done }: Context): void {
  program
    .command("import <file...>")
    .description(
      "read export files: Telegram result.json, WhatsApp .txt or .zip, Signal main.jsonl, Slack .zip, Discord .json, event lines (.jsonl)",
    )
    .option("--source <id>", "source to add it to (default: named after the app)")
    .option("--time-zone <zone>", "time zone of times without one, such as Europe/Helsinki")
    .addOption(
      new Option("--date-order <order>", "order of day, month and year in ambiguous dates").choices([
        "DMY",
        "MDY",
        "YMD",
      ]),
    )
    .option("--self <name>", "your own name in the chat, if the file does not say")
    .option("--max <limit=value>", "raise a limit: entries, entry_bytes, total_bytes, ratio, line_bytes", collect)
    .option("--json", "machine-readable output")
    .action(async (files: readonly string[], options: ImportOptions) => done(await importFiles(io, files, options)));
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

async function importFiles(io: Io, files: readonly string[], options: ImportOptions): Promise<number> {
  if (options.timeZone !== undefined) requireZone(options.timeZone);
  if (options.source !== undefined) requireSourceId(options.source);
  const limits = Object.fromEntries((options.max ?? []).map(parseLimit));
  const app = await openApp({ ...io, log: (line) => io.stderr.write(`${line}\n`) });
  const stop = new AbortController();
  io.onSignal(() => (stop.signal.aborted ? io.exit(INTERRUPTED) : stop.abort()));
  const results: ImportResult[] = [];
  try {
    for (const file of files) {
      const importer = await detectImporter(file, limits);
      const source = options.source ?? importer.sourceKind;
      const result = await importOne(app, io, importer, { file, source, options, limits, signal: stop.signal });
      results.push(result);
      if (options.json !== true) printReport(io, result.imported);
      if (result.isEmpty) printEmpty(io, file);
    }
    if (options.json === true) {
      io.stdout.write(`${JSON.stringify({ imported: results.map(({ imported }) => imported) }, undefined, 2)}\n`);
    }
    return results.every(({ imported, isEmpty }) => imported.complete && !isEmpty) ? 0 : FAILED;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    io.stderr.write("Interrupted. The messages read so far are stored. Import the file again to add the rest.\n");
    return INTERRUPTED;
  } finally {
    await app.close();
  }
}

interface ImportOne {
  readonly file: string;
  readonly source: string;
  readonly options: ImportOptions;
  readonly limits: Partial<ImportLimits>;
  readonly signal: AbortSignal;
}

async function importOne(
  app: App,
  io: Io,
  importer: FileImporter,
  { file, source, options, limits, signal }: ImportOne,
): Promise<ImportResult> {
  const progress = new ImportProgress(io, file);
  const exported = new FileSource({
    id: source,
    importer,
    path: file,
    limits,
    timeZone: options.timeZone ?? app.reader.clock.zone.name,
    ...(options.dateOrder === undefined ? {} : { dateOrder: options.dateOrder }),
    ...(options.self === undefined ? {} : { self: options.self }),
    onProgress: (at) => progress.update(at),
  });
  let added = 0;
  let isEmpty = true;
  let hasSource = false;
  await exported.run({
    sink: async (batch) => {
      // Not earlier: a file that is rejected or empty must not leave a source behind.
      if (!hasSource && batch.some(({ type }) => type !== "checkpoint")) {
        await addImportSource(app, source);
        hasSource = true;
      }
      // Checkpoints are not stored: the file is read again on each import, and a live source with the same id keeps its own.
      const events = batch.filter(({ type }) => type !== "checkpoint");
      isEmpty &&= events.every(({ type }) => type === "chat" || type === "person");
      added += app.store.apply(source, events).messagesAdded;
    },
    checkpoint: {},
    signal,
    now: Date.now,
    // The report has it all.
    onState: () => undefined,
    log: { info: () => undefined, warn: () => undefined },
  });
  progress.end();
  return { imported: { file, source, added, ...reportOf(exported.outcome) }, isEmpty };
}

function reportOf(outcome: FileOutcome): ImportReport {
  if (outcome.state === "read") return outcome.report;
  throw outcome.state === "failed" ? outcome.error : new Error(`The file is ${outcome.state}`);
}

/** Agents see configured sources only. */
async function addImportSource(app: App, id: string): Promise<void> {
  const config = await readConfig(app.home);
  if (config.sources[id] !== undefined) return;
  await writeSource(app.home, id, { kind: "import" });
}

function printReport(
  io: Io,
  { file, source, format, messages, chats, added, skipped, notes, problems, complete }: Imported,
): void {
  const found = `${count(messages, "message")} in ${count(chats, "chat")}`;
  io.stdout.write(
    `${file}: ${format}, ${found}; ${inDigits(added)} new in source ${source}, ${inDigits(skipped)} skipped\n`,
  );
  for (const note of notes) io.stdout.write(`  note: ${note}\n`);
  for (const problem of problems) io.stdout.write(`  skipped: ${problem}\n`);
  if (complete) return;
  io.stderr.write(`error: ${file} is cut off or damaged: only the messages counted above were stored\n`);
  io.stderr.write("  fix:   Export or copy it again and import that file: only missing messages are added\n");
}

function printEmpty(io: Io, file: string): void {
  io.stderr.write(`error: No messages found in ${file}\n`);
  io.stderr.write("  fix:   Check that the export includes the chat and its period, and export it again\n");
}

function requireSourceId(id: string): void {
  if (SOURCE_ID.test(id)) return;
  throw invalid(
    "source",
    `Invalid source id '${id}': use lower-case letters, digits, - and _`,
    `--source ${
      id
        .toLowerCase()
        .replaceAll(/[^a-z0-9_-]+/g, "-")
        .replace(/^[-_]+/, "") || "chat"
    }`,
  );
}

function requireZone(name: string): void {
  try {
    void new Zone(name);
  } catch (error) {
    if (error instanceof ChatError) throw error;
    throw invalid("time-zone", `Unknown time zone '${name}'`, "Use an IANA name such as Europe/Helsinki");
  }
}
