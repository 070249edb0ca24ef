// MIME types of attachments: detection, and the attachment kind of a type.

import { isUtf8 } from "node:buffer";
import type { AttachmentKind } from "../model/source.ts";

export function kindByMime(mime: string | undefined): AttachmentKind {
  const family = mime?.split("/")[0];
  return family === "image" || family === "video" || family === "audio" ? family : "file";
}

const BY_ENDING: ReadonlyMap<string, string> = new Map([
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["png", "image/png"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
  ["heic", "image/heic"],
  ["svg", "image/svg+xml"],
  ["mp4", "video/mp4"],
  ["mov", "video/quicktime"],
  ["webm", "video/webm"],
  ["3gp", "video/3gpp"],
  ["mp3", "audio/mpeg"],
  ["m4a", "audio/mp4"],
  ["aac", "audio/aac"],
  ["amr", "audio/amr"],
  ["ogg", "audio/ogg"],
  ["oga", "audio/ogg"],
  ["opus", "audio/ogg"],
  ["wav", "audio/wav"],
  ["flac", "audio/flac"],
  ["pdf", "application/pdf"],
  ["zip", "application/zip"],
  ["docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  ["pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
  ["txt", "text/plain"],
  ["md", "text/markdown"],
  ["csv", "text/csv"],
  ["html", "text/html"],
  ["vcf", "text/vcard"],
  ["ics", "text/calendar"],
  ["json", "application/json"],
  ["tgs", "application/x-tgsticker"],
]);

/** Magic bytes. A file name can be wrong, and models reject an image of the wrong type. */
const BY_HEAD: readonly (readonly [mime: string, head: RegExp])[] = [
  ["image/png", /^\u0089PNG\r\n/],
  ["image/jpeg", /^\u00ff\u00d8\u00ff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
  ["audio/wav", /^RIFF[^]{4}WAVE/],
  ["application/pdf", /^%PDF-/],
  ["audio/ogg", /^OggS/],
  ["audio/mpeg", /^ID3/],
];
const HEAD_BYTES = 16;

const UNKNOWN = "application/octet-stream";

/** Detects by magic bytes, then by the declared type, then by the name. */
export function mimeOf(
  bytes: Buffer,
  { declared, name }: { readonly declared: string | null; readonly name: string },
): string {
  const head = bytes.toString("latin1", 0, HEAD_BYTES);
  const byHead = BY_HEAD.find(([, pattern]) => pattern.test(head))?.[0];
  if (byHead !== undefined) return byHead;
  const byName = BY_ENDING.get(name.slice(name.lastIndexOf(".") + 1).toLowerCase());
  const claimed = declared !== null && /^[\w.+-]+\/[\w.+-]+$/.test(declared) ? declared.toLowerCase() : byName;
  const mime = claimed ?? UNKNOWN;
  // A claimed image type without its magic bytes is not trusted.
  return BY_HEAD.some(([known]) => known === mime) && mime.startsWith("image/") ? UNKNOWN : mime;
}

export function isText(mime: string, bytes: Buffer): boolean {
  return (mime.startsWith("text/") || mime === "application/json" || mime === "image/svg+xml") && isUtf8(bytes);
}
