// An export file as a source: read once, from start to end. The checkpoint is a fingerprint of the file, so an unchanged file
// is not read again.

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
} from "../model/source.ts";
import { VERSION } from "../version.ts";
import { unreadable } from "./archive.ts";
import { fingerprint } from "./fingerprint.ts";

export interface FileSourceOptions extends Omit<ImportFile, "signal"> {
  readonly id: string;
  readonly name?: string;
  readonly importer: FileImporter;
}

export type FileOutcome =
  | { readonly state: "unread" | "unchanged" }
  | { readonly state: "read"; readonly report: ImportReport }
  /** Caused by the file, the store or the signal. */
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
    this.capabilities = { history: "snapshot", stream: false, backfill: false, send: false, changes: importer.changes };
    this.#importer = importer;
    this.#file = file;
  }

  get outcome(): FileOutcome {
    return this.#outcome;
  }

  async run(context: SourceContext): Promise<void> {
    context.onState({ status: "connecting" });
    this.#outcome = await this.#read(context).catch((error: unknown) => ({ state: "failed", error }) as const);
    if (this.#outcome.state === "read") logReport(this.#outcome.report, context.log);
    context.onState(this.#stateAfter(this.#outcome, context.signal));
  }

  async #read(context: SourceContext): Promise<FileOutcome> {
    const { sink, checkpoint, signal } = context;
    const look = await this.#fingerprint();
    if (checkpoint["file"] === look) return { state: "unchanged" };
    const batches = this.#importer.read({ ...this.#file, signal });
    for (;;) {
      const next = await batches.next();
      if (next.done === true) {
        await sink([{ type: "checkpoint", state: { file: look } }]);
        return { state: "read", report: next.value };
      }
      // Passing the error to the importer makes it close the file.
      await storeBatch(next.value, context).catch((error: unknown) => batches.throw(error));
    }
  }

  /** Includes our version: a newer importer may find more in the same file. */
  async #fingerprint(): Promise<string> {
    const { path, timeZone, dateOrder = "", self = "", limits = {} } = this.#file;
    try {
      return await fingerprint(path, JSON.stringify([VERSION, timeZone, dateOrder, self, limits]));
    } catch (error) {
      throw unreadable(path, error);
    }
  }

  #stateAfter(outcome: FileOutcome, signal: AbortSignal): SourceState {
    if (outcome.state !== "failed") return { status: "connected" };
    if (signal.aborted) return STOPPED;
    const { error } = outcome;
    const again = "Check the file and the free disk space, then restart the chat server";
    if (error instanceof ChatError)
      return { status: "error", message: error.message, howToConnect: error.details.hint ?? again };
    return { status: "error", message: `${this.#file.path} was not read completely`, howToConnect: again };
  }
}

async function storeBatch(batch: readonly SourceEvent[], { sink, signal, now }: SourceContext): Promise<void> {
  const at = now();
  await sink(batch.filter((event) => !hasExpired(event, at)));
  // Yield to the event loop: a long file must not block requests.
  await setImmediate();
  signal.throwIfAborted();
}

/** Messages past their expiry are never stored. */
function hasExpired(event: SourceEvent, now: number): boolean {
  return event.type === "message" && event.message.expiresAt !== undefined && event.message.expiresAt <= now;
}

function logReport({ notes, skipped, problems }: ImportReport, log: SourceLog): void {
  for (const note of notes) log.info(note);
  if (skipped > 0) log.warn(`${skipped} skipped: ${problems.join("; ")}`);
}
