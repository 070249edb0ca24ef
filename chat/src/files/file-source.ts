// An export file as a source: read once, from its beginning to its end; nothing comes after that. What is in it the importer
// knows. The checkpoint is what the file looked like, so that one that has not changed is not read again.

import { setImmediate } from "node:timers/promises";
import { ChatError } from "../errors.ts";
import {
  STOPPED,
  type ChatSource,
  type FileImporter,
  type ImportFile,
  type ImportReport,
  type SourceCapabilities,
  type SourceContext,
  type SourceEvent,
  type SourceLog,
  type SourceState,
} from "../source.ts";
import { VERSION } from "../version.ts";
import { unreadable } from "./archive.ts";
import { fingerprint } from "./fingerprint.ts";

export interface FileSourceOptions extends Omit<ImportFile, "signal"> {
  readonly id: string;
  readonly name?: string;
  readonly importer: FileImporter;
}

/** What became of it. */
export type FileOutcome =
  | { readonly state: "unread" | "unchanged" }
  | { readonly state: "read"; readonly report: ImportReport }
  /** By the file, by the store, or by the signal. */
  | { readonly state: "failed"; readonly error: unknown };

export class FileSource implements ChatSource {
  readonly id: string;
  readonly kind = "import";
  readonly name: string;
  readonly capabilities: SourceCapabilities;
  readonly #importer: FileImporter;
  readonly #file: Omit<ImportFile, "signal">;
  #outcome: FileOutcome = { state: "unread" };

  constructor({ id, name = "Imported file", importer, ...file }: FileSourceOptions) {
    this.id = id;
    this.name = name;
    this.capabilities = { history: "snapshot", stream: false, backfill: false, send: false, tells: importer.tells };
    this.#importer = importer;
    this.#file = file;
  }

  get outcome(): FileOutcome {
    return this.#outcome;
  }

  async run(context: SourceContext): Promise<void> {
    context.onState({ status: "connecting" });
    this.#outcome = await this.#read(context).catch((error: unknown) => ({ state: "failed", error }) as const);
    if (this.#outcome.state === "read") tell(this.#outcome.report, context.log);
    context.onState(this.#stateAfter(this.#outcome, context.signal));
  }

  async #read(context: SourceContext): Promise<FileOutcome> {
    const { sink, checkpoint, signal } = context;
    const look = await this.#look();
    if (checkpoint["file"] === look) return { state: "unchanged" };
    const batches = this.#importer.read({ ...this.#file, signal });
    for (;;) {
      const next = await batches.next();
      if (next.done === true) {
        await sink([{ type: "checkpoint", state: { file: look } }]);
        return { state: "read", report: next.value };
      }
      // The importer is told, so that it lets go of the file.
      await handOver(next.value, context).catch((error: unknown) => batches.throw(error));
    }
  }

  /** A newer version of ours may find more in the same file. */
  async #look(): Promise<string> {
    const { path, timeZone, dateOrder = "", self = "" } = this.#file;
    try {
      return await fingerprint(path, JSON.stringify([VERSION, timeZone, dateOrder, self]));
    } catch (error) {
      throw unreadable(path, error);
    }
  }

  #stateAfter(outcome: FileOutcome, signal: AbortSignal): SourceState {
    if (outcome.state !== "failed") return { status: "connected" };
    if (signal.aborted) return STOPPED;
    const { error } = outcome;
    const again = "Check the file and the room for the database, then start the chat server again";
    if (error instanceof ChatError)
      return { status: "error", message: error.message, howToConnect: error.details.hint ?? again };
    return { status: "error", message: `${this.#file.path} was not read to its end`, howToConnect: again };
  }
}

async function handOver(batch: readonly SourceEvent[], { sink, signal }: SourceContext): Promise<void> {
  await sink(batch);
  // A long file is not all that this process has to do.
  await setImmediate();
  signal.throwIfAborted();
}

function tell({ notes, skipped, problems }: ImportReport, log: SourceLog): void {
  for (const note of notes) log.info(note);
  if (skipped > 0) log.warn(`${skipped} skipped: ${problems.join("; ")}`);
}
