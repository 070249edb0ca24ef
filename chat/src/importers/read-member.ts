// The frame of importers whose messages are all in one file of the export: opens it, reads it once, closes it.

import { ChatError } from "../errors.ts";
import type { ImportFile, ImportLimits, ImportReport, SourceEvent } from "../model/source.ts";
import { openArchive, type Archive, type Member } from "./archive.ts";
import { ImportCollector } from "./import-collector.ts";
import { withDefaults } from "./import-limits.ts";

/** Adds what it reads to the collector. */
export interface MemberReader {
  push(chunk: Buffer): void;
  /** The file has ended. */
  end(): void;
}

export interface MemberParts {
  readonly file: ImportFile;
  readonly archive: Archive;
  readonly member: Member;
  readonly collector: ImportCollector;
  readonly limits: ImportLimits;
}

export interface MemberFormat {
  readonly format: string;
  /** The file with the messages; undefined if there is none. */
  readonly choose: (members: readonly Member[]) => Member | undefined;
  /** For the error message if there is none. */
  readonly missing: { readonly what: string; readonly hint?: string };
  readonly createReader: (parts: MemberParts) => MemberReader;
}

export async function* readMember(
  file: ImportFile,
  { format, choose, missing, createReader }: MemberFormat,
): AsyncGenerator<readonly SourceEvent[], ImportReport> {
  const archive = await openArchive(file.path, file.limits);
  try {
    const member = requireMember(choose(archive.members), file.path, missing);
    archive.checkLimits([member]);
    const collector = new ImportCollector();
    const reader = createReader({ file, archive, member, collector, limits: withDefaults(file.limits) });
    let bytes = 0;
    for await (const chunk of member.chunks(collector.chunkReader(file.signal))) {
      reader.push(chunk);
      bytes += chunk.length;
      yield* collector.batches();
      file.onProgress?.({ bytes, totalBytes: member.sizeBytes, messages: collector.messages });
    }
    reader.end();
    yield* collector.batches({ all: true });
    return collector.report(format);
  } finally {
    archive.close();
  }
}

export function requireMember(
  member: Member | undefined,
  path: string,
  { what, hint }: MemberFormat["missing"],
): Member {
  if (member !== undefined) return member;
  throw new ChatError("IMPORT_FAILED", `No ${what} found in ${path}`, {
    field: "path",
    ...(hint === undefined ? {} : { hint }),
  });
}
