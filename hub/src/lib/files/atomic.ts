// Atomic file writes whose failures are errors of the hub.

import { dirname } from "node:path";
import { errorCode } from "@plugboard/shared/error-code";
import * as shared from "@plugboard/shared/files/atomic";
import { HubError } from "../../errors.ts";

/** Replaces the text of a file. Resolves when it is on disk. Rejects with IoError or DiskFull. */
export function writeFileAtomic(path: string, text: string, options: shared.WriteOptions): Promise<void> {
  return shared.writeFileAtomic(path, text, options).catch((error: unknown) => {
    throw cannotWrite(path, error);
  });
}

/** Creates a file; returns false if it exists. Rejects with IoError or DiskFull. */
export function createFileExclusive(path: string, text: string, options: shared.WriteOptions): Promise<boolean> {
  return shared.createFileExclusive(path, text, options).catch((error: unknown) => {
    throw cannotWrite(path, error);
  });
}

function cannotWrite(path: string, error: unknown): HubError {
  const detail = error instanceof Error ? error.message : String(error);
  const code = errorCode(error);
  if (code !== "ENOSPC" && code !== "EDQUOT") {
    return new HubError("IoError", `Cannot write ${path}`, { detail, cause: error });
  }
  const full = code === "ENOSPC" ? "The disk is full" : "The disk quota is used up";
  return new HubError("DiskFull", `${full}: nothing can be written to ${dirname(path)}`, {
    detail,
    hint: "Make room there and try again; nothing was changed",
    cause: error,
  });
}
