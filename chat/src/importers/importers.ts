// The list of importers, and detection of the one for a file.

import { stat } from "node:fs/promises";
import { ChatError } from "../errors.ts";
import type { FileImporter, FileSigns, ImportLimits } from "../model/source.ts";
import { openArchive, readHead } from "./archive.ts";
import { discordImporter } from "./discord/importer.ts";
import { jsonlImporter } from "./jsonl.ts";
import { signalImporter } from "./signal/importer.ts";
import { slackImporter } from "./slack/importer.ts";
import { telegramImporter } from "./telegram/importer.ts";
import { whatsappImporter } from "./whatsapp/importer.ts";

/** In the order of detection: the less specific ones last. */
export const IMPORTERS: readonly FileImporter[] = [
  telegramImporter,
  signalImporter,
  discordImporter,
  slackImporter,
  whatsappImporter,
];

const HEAD_BYTES = 65_536;
/** File names quoted in an error. */
const MAX_QUOTED = 5;

/** Throws IMPORT_FAILED if no importer recognises the file. */
export async function detectImporter(path: string, limits?: Partial<ImportLimits>): Promise<FileImporter> {
  const signs = await signsOf(path, limits);
  // Event lines are never in a zip or folder.
  const importer = [jsonlImporter, ...IMPORTERS].find((one) => one.recognises(signs));
  if (importer === undefined) throw unknownFormat(signs);
  return importer;
}

async function signsOf(path: string, limits: Partial<ImportLimits> | undefined): Promise<FileSigns> {
  const archive = await openArchive(path, limits);
  try {
    const names = archive.members.map(({ name }) => name);
    const isFolder = (await stat(path)).isDirectory();
    return { path, names, head: isFolder ? Buffer.alloc(0) : await readHead(path, HEAD_BYTES) };
  } finally {
    archive.close();
  }
}

function unknownFormat({ path, head, names }: FileSigns): ChatError {
  const formats = IMPORTERS.map(({ format }) => format).join(", ");
  const quoted = names.slice(0, MAX_QUOTED).join(", ");
  const looked =
    head.length > 0 && names.length === 1
      ? `its name and its first ${head.length} bytes`
      : `the ${names.length} files in it${quoted === "" ? "" : ` (${quoted}${names.length > MAX_QUOTED ? ", …" : ""})`}`;
  return new ChatError("IMPORT_FAILED", `Unknown export format: ${path} (checked ${looked})`, {
    field: "path",
    hint: `Supported formats are ${formats}: Telegram's result.json, Signal's main.jsonl, WhatsApp's .txt or .zip, event lines (.jsonl), Slack's export, the JSON of DiscordChatExporter. Give that file, its folder or its zip`,
  });
}
