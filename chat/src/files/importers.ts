// The kinds of export files that can be imported. A new one is a line below; which of them a file is, is asked in this order.

import { ChatError } from "../errors.ts";
import type { FileImporter } from "../source.ts";
import { openArchive, readHead } from "./archive.ts";
import { jsonlImporter } from "./jsonl.ts";
import { telegramImporter } from "./telegram/importer.ts";
import { whatsappImporter } from "./whatsapp/importer.ts";

export const IMPORTERS: readonly FileImporter[] = [telegramImporter, jsonlImporter, whatsappImporter];

const HEAD_BYTES = 65_536;

/** Who can read this file, folder or zip. */
export async function recognise(path: string): Promise<FileImporter> {
  const archive = await openArchive(path);
  try {
    const names = archive.members.map(({ name }) => name);
    const head = await readHead(path, HEAD_BYTES).catch(() => Buffer.alloc(0)); // a folder
    const found = IMPORTERS.find((importer) => importer.recognises({ path, head, names }));
    if (found !== undefined) return found;
  } finally {
    archive.close();
  }
  throw new ChatError("IMPORT_FAILED", `${path} is no export that is known here`, {
    hint: `Known are ${IMPORTERS.map(({ format }) => format).join(", ")}`,
  });
}
