// Limits of one import, against zip bombs. Checked before anything is stored, far above real exports, adjustable per file.

import { ChatError, invalid } from "../errors.ts";
import type { ImportLimits } from "../model/source.ts";

type ImportLimit = keyof ImportLimits;

const GIB = 2 ** 30;

/** Chat text compresses 5 to 30 times; deflate reaches 1,032 on zeros. */
const IMPORT_LIMITS: ImportLimits = {
  entries: 100_000,
  entry_bytes: 8 * GIB,
  total_bytes: 16 * GIB,
  ratio: 200,
  line_bytes: 8_000_000,
};

/** The ratio is not checked below this size. */
const RATIO_COUNTS_FROM_BYTES = 32 * 2 ** 20;

function isImportLimit(name: string): name is ImportLimit {
  return Object.hasOwn(IMPORT_LIMITS, name);
}

export function withDefaults(limits: Partial<ImportLimits> | undefined): ImportLimits {
  return { ...IMPORT_LIMITS, ...limits };
}

/** @example parseLimit("ratio=1000") // ["ratio", 1000] */
export function parseLimit(text: string): readonly [ImportLimit, number] {
  const [name = "", value = ""] = text.split("=", 2);
  const names = Object.keys(IMPORT_LIMITS).join(", ");
  if (!isImportLimit(name)) throw invalid("max", `Unknown import limit '${name}'`, `Use one of ${names}`);
  if (/^[1-9]\d{0,14}$/.test(value)) return [name, Number(value)];
  throw invalid(
    "max",
    `Invalid value '${value}' for ${name}`,
    `Use a whole number: --max ${name}=${IMPORT_LIMITS[name]}`,
  );
}

/** A file as the directory of its archive declares it. */
export interface DeclaredFile {
  readonly name: string;
  readonly sizeBytes: number;
  /** Compressed size; zip only. */
  readonly packedBytes?: number;
}

/** Throws IMPORT_FAILED if reading these files would exceed a limit. `archiveBytes` is the size of the zip itself. */
export function requireWithinLimits(
  limits: ImportLimits,
  path: string,
  files: readonly DeclaredFile[],
  archiveBytes: number | undefined,
): void {
  for (const { name, sizeBytes, packedBytes } of files) {
    if (sizeBytes > limits.entry_bytes) {
      throw limitExceeded(path, "entry_bytes", limits, sizeBytes, `${name} has ${number(sizeBytes)} bytes`);
    }
    if (packedBytes !== undefined) requireRatio(limits, path, name, sizeBytes, packedBytes);
  }
  const total = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (total > limits.total_bytes) {
    throw limitExceeded(
      path,
      "total_bytes",
      limits,
      total,
      `the ${number(files.length)} files have ${number(total)} bytes`,
    );
  }
  // Overlapping entries share compressed bytes, so the ratio of the whole zip is checked too.
  if (archiveBytes !== undefined) requireRatio(limits, path, "it", total, archiveBytes);
}

export function requireEntries(limits: ImportLimits, path: string, entries: number): void {
  if (entries > limits.entries)
    throw limitExceeded(path, "entries", limits, entries, `it holds ${number(entries)} files`);
}

export function lineTooLong({ line_bytes: limit }: ImportLimits): string {
  return `longer than ${number(limit)} bytes (--max line_bytes=… raises the limit)`;
}

function requireRatio(limits: ImportLimits, path: string, name: string, bytes: number, packedBytes: number): void {
  const ratio = Math.ceil(bytes / Math.max(packedBytes, 1));
  if (bytes < RATIO_COUNTS_FROM_BYTES || ratio <= limits.ratio) return;
  const found = `${name} unpacks from ${number(packedBytes)} to ${number(bytes)} bytes, ${number(ratio)} to 1`;
  throw limitExceeded(path, "ratio", limits, ratio, found);
}

function limitExceeded(
  path: string,
  limit: ImportLimit,
  limits: ImportLimits,
  found: number,
  detail: string,
): ChatError {
  const message = `${path} is beyond the limit '${limit}' of ${number(limits[limit])}: ${detail}`;
  return new ChatError("IMPORT_FAILED", message, {
    field: "path",
    hint: `If you trust the file, raise the limit: --max ${limit}=${found} (in chat.json: options.limits.${limit})`,
  });
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}
