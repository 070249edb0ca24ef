// The kinds of export files that we read, and which one a file is.

import { stat } from "node:fs/promises";
import { ChatError } from "../errors.ts";
import type { FileImporter, FileSigns } from "../source.ts";
import { openArchive, readHead } from "./archive.ts";
import { discordImporter } from "./discord/importer.ts";
import { jsonlImporter } from "./jsonl.ts";
import { signalImporter } from "./signal/importer.ts";
import { slackImporter } from "./slack/importer.ts";
import { telegramImporter } from "./telegram/importer.ts";
import { whatsappImporter } from "./whatsapp/importer.ts";

/** In the order in which they are asked: the looser ones last. */
export const IMPORTERS: readonly FileImporter[] = [
  telegramImporter,
  signalImporter,
  discordImporter,
  slackImporter,
  whatsappImporter,
];

const HEAD_BYTES = 65_536;
/** Names that an error quotes. */
const MAX_QUOTED = 5;

/** Throws IMPORT_FAILED with what was looked at, where it is none of them. */
export async function recognise(path: string): Promise<FileImporter> {
  const signs = await signsOf(path);
  // Our own events come as they are, in no zip and no folder.
  const importer = [jsonlImporter, ...IMPORTERS].find((one) => one.recognises(signs));
  if (importer === undefined) throw unknown(signs);
  return importer;
}

async function signsOf(path: string): Promise<FileSigns> {
  const archive = await openArchive(path);
  try {
    const names = archive.members.map(({ name }) => name);
    const isFolder = (await stat(path)).isDirectory();
    return { path, names, head: isFolder ? Buffer.alloc(0) : await readHead(path, HEAD_BYTES) };
  } finally {
    archive.close();
  }
}

function unknown({ path, head, names }: FileSigns): ChatError {
  const formats = IMPORTERS.map(({ format }) => format).join(", ");
  const quoted = names.slice(0, MAX_QUOTED).join(", ");
  const looked =
    head.length > 0 && names.length === 1
      ? `its name and its first ${head.length} bytes`
      : `the ${names.length} files in it${quoted === "" ? "" : ` (${quoted}${names.length > MAX_QUOTED ? ", …" : ""})`}`;
  return new ChatError("IMPORT_FAILED", `${path} is no export that we know, by ${looked}`, {
    field: "path",
    hint: `We read ${formats}: Telegram's result.json, Signal's main.jsonl, WhatsApp's .txt or .zip, lines of our own events, Slack's export, the JSON of DiscordChatExporter; name that file, its folder or its zip`,
  });
}
