// The kinds of export files that can be imported.

import { open } from "node:fs/promises";
import { ChatError } from "../errors.ts";
import type { FileImporter } from "../source.ts";
import { jsonlImporter } from "./jsonl.ts";

const IMPORTERS: readonly FileImporter[] = [jsonlImporter];

export async function recognise(path: string): Promise<FileImporter> {
  const file = await open(path, "r");
  try {
    const head = Buffer.alloc(65_536);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    const found = IMPORTERS.find((importer) => importer.recognises({ path, head: head.subarray(0, bytesRead) }));
    if (found !== undefined) return found;
  } finally {
    await file.close();
  }
  throw new ChatError("IMPORT_FAILED", `${path} is no export that is known here`);
}
