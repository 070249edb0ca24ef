// Reads a whole export through an importer and groups the events.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  FileImporter,
  ImportFile,
  ImportReport,
  NativeChat,
  NativeMessage,
  NativePerson,
  SourceEvent,
} from "../../../chat/src/model/source.ts";

export interface Imported {
  readonly report: ImportReport;
  readonly batches: readonly (readonly SourceEvent[])[];
  readonly events: readonly SourceEvent[];
  readonly messages: readonly NativeMessage[];
  readonly chats: readonly NativeChat[];
  readonly people: readonly NativePerson[];
}

export async function importFile(
  importer: FileImporter,
  path: string,
  options: Partial<Omit<ImportFile, "path">> = {},
): Promise<Imported> {
  const reading = importer.read({ path, timeZone: "UTC", signal: new AbortController().signal, ...options });
  const batches: (readonly SourceEvent[])[] = [];
  for (;;) {
    const next = await reading.next();
    if (next.done === true) return sorted(next.value, batches);
    batches.push(next.value);
  }
}

function sorted(report: ImportReport, batches: readonly (readonly SourceEvent[])[]): Imported {
  const events = batches.flat();
  return {
    report,
    batches,
    events,
    messages: events.flatMap((event) => (event.type === "message" ? [event.message] : [])),
    chats: events.flatMap((event) => (event.type === "chat" ? [event.chat] : [])),
    people: events.flatMap((event) => (event.type === "person" ? [event.person] : [])),
  };
}

export interface Folder {
  readonly path: string;
  file(name: string, content: string | Buffer): Promise<string>;
  remove(): Promise<void>;
}

export async function temporaryFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), "plugboard-chat-"));
  return {
    path,
    file: async (name, content) => {
      await writeFile(join(path, name), content);
      return join(path, name);
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}
