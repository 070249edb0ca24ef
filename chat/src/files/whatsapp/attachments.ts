// What a message carries: a file that is in the zip, one that is only named, or one that was left out.

import type { AttachmentKind, NativeAttachment } from "../../source.ts";
import { omittedKind, saysAttached } from "./phrases.ts";
import { trimEnds } from "../../trim.ts";

export interface Carried {
  readonly attachment: NativeAttachment;
  /** The text beside it. */
  readonly caption: string;
}

/** As the phones name files: nobody writes that by hand. */
const ANDROID_NAME = /^(?:IMG|VID|AUD|PTT|STK|DOC)-\d{8}-WA\d{4}/;
const IOS_NAME = /^\d{8}-[A-Z]/;

/** `files` are the names in the zip, without folders. */
export function carriedBy(content: string, files: ReadonlySet<string>): Carried | undefined {
  return inBrackets(content, files) ?? beforeParenthesis(content, files) ?? omitted(content);
}

/** iOS: `caption <attached: 00000001-PHOTO.jpg>`, with a mark before the bracket. */
function inBrackets(content: string, files: ReadonlySet<string>): Carried | undefined {
  if (!content.includes("<")) return undefined;
  const match = /(\u200e?)<[^<>:\n]{1,40}: ([^<>\n]+\.\w{1,5})>\s*$/u.exec(content);
  const name = match?.[2];
  if (match === null || name === undefined) return undefined;
  if (match[1] === "" && !files.has(name) && !IOS_NAME.test(name)) return undefined;
  const caption = content.slice(0, match.index).replaceAll("\u200e", "").trim();
  return { attachment: toAttachment(name, files), caption };
}

/** Android: `IMG-20230204-WA0001.jpg (file attached)`, and the caption on the next lines. */
function beforeParenthesis(content: string, files: ReadonlySet<string>): Carried | undefined {
  if (!content.includes("(")) return undefined;
  const [line = "", ...more] = content.split("\n");
  const match = /^([^\n]+\.\w{1,5}) \(([^()]+)\)$/u.exec(trimEnds(line, "\u200e\u200f"));
  const name = match?.[1];
  if (name === undefined) return undefined;
  if (!files.has(name) && !ANDROID_NAME.test(name) && !saysAttached(match?.[2] ?? "")) return undefined;
  return { attachment: toAttachment(name, files), caption: more.join("\n") };
}

function omitted(content: string): Carried | undefined {
  const [line = "", ...more] = content.split("\n");
  const kind = omittedKind(line);
  return kind === undefined ? undefined : { attachment: { kind, available: false }, caption: more.join("\n") };
}

function toAttachment(name: string, files: ReadonlySet<string>): NativeAttachment {
  return { kind: kindOfFile(name), name, available: files.has(name) };
}

const KINDS: ReadonlyMap<string, AttachmentKind> = new Map<string, AttachmentKind>([
  ...["jpg", "jpeg", "png", "gif", "heic", "webp"].map((end) => [end, "image"] as const),
  ...["mp4", "mov", "3gp", "webm", "avi"].map((end) => [end, "video"] as const),
  ...["mp3", "m4a", "aac", "wav", "ogg", "amr"].map((end) => [end, "audio"] as const),
  ["opus", "voice"],
]);

function kindOfFile(name: string): AttachmentKind {
  if (/^STK-|STICKER/.test(name)) return "sticker";
  if (name.startsWith("PTT-")) return "voice";
  return KINDS.get(name.slice(name.lastIndexOf(".") + 1).toLowerCase()) ?? "file";
}
