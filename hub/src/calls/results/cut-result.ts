// Cuts a tool's result that is larger than the limit of its server or group: what fits stays, a note and links say where the rest is.
// `isError` and all other members stay as they are, and structured content stays valid against the tool's output schema.

import { isObject, membersOf, valueOf, type JsonObject } from "../../lib/json/json.ts";
import { withMembers } from "../../protocol/rpc/json-edit.ts";
import { raw, type Raw } from "../../protocol/rpc/jsonrpc.ts";
import { checkArguments } from "../../search/check-arguments.ts";
import { byteLength, cutText } from "./pages.ts";

/** Key of what was cut in the `_meta` of the result. */
export const CUT_META = "io.plugboard/cut";

interface CutOptions {
  readonly maxBytes: number;
  /** Where the whole result is. */
  readonly uri: string;
  readonly keptMs: number;
  readonly outputSchema: unknown;
}

/** Undefined if the result is no larger than the limit, or has nothing that could be cut. */
export function cutResult(result: Raw, { maxBytes, uri, keptMs, outputSchema }: CutOptions): Raw | undefined {
  const { value, bytes } = result;
  if (bytes.length <= maxBytes || !isObject(value) || !Array.isArray(value["content"])) return undefined;
  const structured = cutStructured(value["structuredContent"], sizeOf(result, "structuredContent"), {
    maxBytes: maxBytes / 2,
    outputSchema,
  });
  const left = Math.max(maxBytes - structured.size, maxBytes / 4);
  const { shown, links, shownBytes, isCut } = cutContent(value["content"], left, uri);
  if (!isCut && structured.change === "none") return undefined;
  const note = `[This result has ${bytes.length} bytes and was cut. ${whereRest(uri, keptMs)}${NOTES[structured.change]}]`;
  const meta = isObject(value["_meta"]) ? value["_meta"] : {};
  return withMembers(result, {
    content: raw([...shown, { type: "text", text: note }, ...links]),
    ...(structured.change === "none" || structured.change === "kept" ? {} : { structuredContent: structured.value }),
    _meta: raw({ ...meta, [CUT_META]: { bytes: bytes.length, shown_bytes: shownBytes, uri } }),
  });
}

function whereRest(uri: string, keptMs: number): string {
  return `All of it is the resource ${uri}, for ${Math.round(keptMs / 60_000)} minutes`;
}

const NOTES = {
  none: "",
  cut: ". Its lists and texts in structuredContent were shortened",
  dropped: ". Its structuredContent was left out",
  kept: ". Its structuredContent is whole: shorter, it would not match the tool's output schema",
} as const;

type Structured =
  | { readonly change: "none" | "kept" | "dropped"; readonly size: number; readonly value?: undefined }
  | { readonly change: "cut"; readonly size: number; readonly value: Raw };

function cutStructured(
  value: unknown,
  size: number,
  { maxBytes, outputSchema }: { readonly maxBytes: number; readonly outputSchema: unknown },
): Structured {
  if (size <= maxBytes) return { change: "none", size };
  for (let most = FIRST_MOST; most >= 1; most = Math.floor(most / 2)) {
    const shorter = shortened(value, most, 0);
    const edited = raw(shorter);
    if (edited.bytes.length > maxBytes) continue;
    if (isObject(shorter) && checkArguments(outputSchema, shorter) === undefined) {
      return { change: "cut", size: edited.bytes.length, value: edited };
    }
  }
  // Clients refuse a result without the structure that its tool declares.
  return isObject(outputSchema) ? { change: "kept", size } : { change: "dropped", size: 0 };
}

const FIRST_MOST = 4096;
const CHARACTERS_PER_ITEM = 16;
const MAX_DEPTH = 100;

/** With at most so many elements of each list, and texts of a length to match. */
function shortened(value: unknown, most: number, depth: number): unknown {
  if (depth > MAX_DEPTH) return value;
  if (typeof value === "string") return cutText(value, most * CHARACTERS_PER_ITEM);
  if (Array.isArray(value)) return value.slice(0, most).map((item) => shortened(item, most, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shortened(member, most, depth + 1)]));
}

/** More links than this are not listed: the whole result has all of it. */
const MAX_LINKS = 10;

interface CutContent {
  readonly shown: readonly unknown[];
  readonly links: readonly JsonObject[];
  readonly shownBytes: number;
  readonly isCut: boolean;
}

/** The blocks that fit, and the beginning of a text that does not. */
function cutContent(blocks: readonly unknown[], maxBytes: number, uri: string): CutContent {
  const shown: unknown[] = [];
  const links: JsonObject[] = [];
  let left = maxBytes;
  for (const [index, block] of blocks.entries()) {
    const size = byteLength(JSON.stringify(block));
    if (size <= left) {
      shown.push(block);
      left -= size;
      continue;
    }
    const text = isObject(block) && block["type"] === "text" ? block["text"] : undefined;
    if (typeof text === "string" && left > 0) {
      const beginning = cutText(text, left);
      shown.push({ ...(isObject(block) ? block : {}), text: beginning });
      left = 0;
    }
    if (links.length < MAX_LINKS) links.push(linkTo(block, `${uri}/${index}`, size));
  }
  const isCut = links.length > 0;
  return { shown, links: isCut ? links : [], shownBytes: Math.round(maxBytes - left), isCut };
}

function linkTo(block: unknown, uri: string, size: number): JsonObject {
  const mimeType = mimeTypeOf(block);
  return {
    type: "resource_link",
    uri,
    name: "rest of the result",
    description: "A part of the result that was cut",
    ...(mimeType === undefined ? {} : { mimeType }),
    size,
  };
}

export function mimeTypeOf(block: unknown): string | undefined {
  if (!isObject(block)) return undefined;
  const { type, mimeType, resource } = block;
  if (type === "text") return "text/plain";
  if (type === "resource" && isObject(resource)) return mimeTypeOf({ ...resource, type: "blob" });
  return typeof mimeType === "string" ? mimeType : undefined;
}

function sizeOf({ bytes }: Raw, key: string): number {
  return valueOf(bytes, membersOf(bytes) ?? [], key)?.length ?? 0;
}
