// Reads attachments of messages that agents may see, from the export, and detects their type by content.

import { ChatError, invalid } from "../errors.ts";
import { isText, mimeOf } from "../importers/mime.ts";
import { openStoredFile, type StoredFile } from "../importers/stored-file.ts";
import type { StoredMessage } from "../model/store-port.ts";
import type { Reader } from "./reader.ts";
import { attachmentUri, type AttachmentRef } from "./uris.ts";

export interface FoundAttachment {
  readonly file: StoredFile;
  /** The base name, safe for saving the file. */
  readonly name: string;
  readonly attachment: StoredMessage["attachments"][number];
}

export interface ReadAttachment {
  readonly uri: string;
  readonly kind: string;
  readonly name: string;
  readonly mime: string;
  readonly sizeBytes: number;
  readonly content: { readonly text: string } | { readonly base64: string };
}

/** Base64 adds a third; the hub and most clients accept no larger answers. */
const MAX_BYTES = 8 * 2 ** 20;

/** Throws if the message is not shown or the file is not available. The caller closes the file. */
export async function findAttachment(reader: Reader, args: AttachmentRef): Promise<FoundAttachment> {
  reader.source(args.source, true);
  const { attachments } = reader.message(reader.conversation(args.source, args.chat), args.message);
  const attachment = attachments[args.number - 1];
  if (attachment === undefined) {
    throw invalid(
      "attachment",
      attachments.length === 0
        ? "The message has no attachment"
        : `There is no attachment ${args.number}: the message has ${attachments.length}`,
    );
  }
  if (attachment.file === null) {
    throw new ChatError("ATTACHMENT_NOT_AVAILABLE", `The file of this ${attachment.kind} is not available`, {
      field: "attachment",
      hint: "Export the chat with its media, and import it again",
    });
  }
  const given = attachment.name ?? attachment.file.name;
  const name = given.slice(Math.max(given.lastIndexOf("/"), given.lastIndexOf("\\")) + 1);
  return { file: await openStoredFile(attachment.file), name, attachment };
}

export async function readAttachment(
  reader: Reader,
  args: AttachmentRef,
  signal: AbortSignal,
): Promise<ReadAttachment> {
  const { file, name, attachment } = await findAttachment(reader, args);
  try {
    const { sizeBytes } = file;
    if (sizeBytes > MAX_BYTES) throw tooLarge(sizeBytes, args);
    const chunks: Buffer[] = [];
    for await (const chunk of file.chunks(signal)) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const mime = mimeOf(bytes, { declared: attachment.mime, name });
    const isReadable = isText(mime, bytes);
    if (!isReadable && !reader.policy.showsFiles) throw notRedacted();
    return {
      uri: attachmentUri(args),
      kind: attachment.kind,
      name: reader.presenter.name(name),
      mime,
      sizeBytes,
      content: isReadable
        ? { text: reader.presenter.text(bytes.toString("utf8")) }
        : { base64: bytes.toString("base64") },
    };
  } finally {
    await file.close();
  }
}

function tooLarge(sizeBytes: number, { source, chat, message, number }: AttachmentRef): ChatError {
  const size = `${sizeBytes.toLocaleString("en-US")} bytes; the limit is ${MAX_BYTES.toLocaleString("en-US")}`;
  return new ChatError("ATTACHMENT_NOT_AVAILABLE", `The attachment has ${size}`, {
    field: "attachment",
    hint: `The user can save it: plugboard chat attachment ${[source, chat, message].map((word) => JSON.stringify(word)).join(" ")} ${number}`,
  });
}

function notRedacted(): ChatError {
  return new ChatError("ATTACHMENT_NOT_AVAILABLE", "Files that are not text are blocked while redaction is on", {
    field: "attachment",
    hint: 'The user can allow such files: "attachments": true in chat.json',
  });
}
