// Results that were cut, in memory for a while: whoever got the cut result, and no one else, can read the rest as resources.
//
//   hub://results/<id>             all blocks of the result
//   hub://results/<id>/<n>?page=2  a page of one block; `structured` in place of n: of the structured content

import { randomBytes } from "node:crypto";
import { HubError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { raw, type Raw } from "../../protocol/rpc/jsonrpc.ts";
import { cutResult, mimeTypeOf } from "./cut-result.ts";
import { pageOf, pagesOf } from "./pages.ts";

const PREFIX = "hub://results/";
const ADDRESS = /^hub:\/\/results\/([\w-]{22})(?:\/(structured|\d{1,9}))?(?:\?page=(\d{1,9}))?$/;
const KEPT_MS = 15 * 60_000;
const MAX_BYTES = 64 << 20;
const MAX_RESULTS = 500;

interface Kept {
  readonly owner: string;
  readonly result: Raw;
  readonly pageBytes: number;
  readonly expiresAt: number;
}

export interface KeptResultsOptions {
  readonly maxBytes?: number;
  readonly now?: () => number;
}

export class KeptResults {
  readonly #maxBytes: number;
  readonly #now: () => number;
  /** Oldest first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ maxBytes = MAX_BYTES, now = Date.now }: KeptResultsOptions = {}) {
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  static owns(uri: string): boolean {
    return uri.startsWith(PREFIX);
  }

  /** The result if it is within the limit, or else what is left of it; then the whole one is kept for its owner. */
  limit(
    result: Raw,
    {
      maxBytes,
      owner,
      outputSchema,
    }: { readonly maxBytes: number; readonly owner: string; readonly outputSchema: unknown },
  ): Raw {
    if (result.bytes.length <= maxBytes) return result;
    const id = randomBytes(16).toString("base64url");
    const cut = cutResult(result, { maxBytes, uri: PREFIX + id, keptMs: KEPT_MS, outputSchema });
    if (cut === undefined) return result;
    this.#add(id, { owner, result, pageBytes: maxBytes, expiresAt: this.#now() + KEPT_MS });
    return cut;
  }

  /** The result of `resources/read`. Throws «Resource not found» for everyone but the owner. */
  read(uri: string, owner: string): Raw {
    const [, id = "", part, page = "1"] = ADDRESS.exec(uri) ?? [];
    const kept = this.#kept.get(id);
    if (kept === undefined || kept.owner !== owner || kept.expiresAt <= this.#now()) throw notFound(uri);
    const { value } = kept.result;
    const result = isObject(value) ? value : {};
    const blocks: readonly unknown[] = Array.isArray(result["content"]) ? result["content"] : [];
    const structured = result["structuredContent"];
    if (part === undefined) {
      const all = blocks.map((block, index) => contentsOf(`${PREFIX}${id}/${index}`, block));
      const last = structured === undefined ? [] : [jsonContents(`${PREFIX}${id}/structured`, structured)];
      return raw({ contents: [...all, ...last] });
    }
    const address = `${PREFIX}${id}/${part}`;
    const found = part === "structured" ? structured : blocks[Number(part)];
    if (found === undefined) throw notFound(uri);
    const contents = part === "structured" ? jsonContents(address, found) : contentsOf(address, found);
    const { text } = contents;
    if (typeof text !== "string") return raw({ contents: [contents] });
    const pages = pagesOf(text, kept.pageBytes);
    const shown = pageOf(text, Number(page), kept.pageBytes);
    if (shown === undefined) throw notFound(uri);
    const next = Number(page) < pages ? { next: `${address}?page=${Number(page) + 1}` } : {};
    const _meta = { "io.plugboard/page": { page: Number(page), pages, ...next } };
    return raw({ contents: [{ ...contents, uri, text: shown, _meta }] });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#kept.clear();
    this.#bytes = 0;
  }

  #add(id: string, kept: Kept): void {
    this.#kept.set(id, kept);
    this.#bytes += kept.result.bytes.length;
    while (this.#bytes > this.#maxBytes || this.#kept.size > MAX_RESULTS) this.#dropOldest();
    this.#waitForExpiry();
  }

  #waitForExpiry(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const { expiresAt } of this.#kept.values()) {
        if (expiresAt > this.#now()) break;
        this.#dropOldest();
      }
      if (this.#kept.size > 0) this.#waitForExpiry();
    }, KEPT_MS).unref();
  }

  #dropOldest(): void {
    for (const [id, { result }] of this.#kept) {
      this.#kept.delete(id);
      this.#bytes -= result.bytes.length;
      return;
    }
  }
}

/** A block as the contents of a resource. */
function contentsOf(uri: string, block: unknown): JsonObject {
  const mimeType = mimeTypeOf(block);
  const base = { uri, ...(mimeType === undefined ? {} : { mimeType }) };
  if (!isObject(block)) return jsonContents(uri, block);
  const { type, text, data, resource } = block;
  if (type === "text" && typeof text === "string") return { ...base, text };
  if (typeof data === "string") return { ...base, blob: data };
  if (type === "resource" && isObject(resource)) {
    if (typeof resource["text"] === "string") return { ...base, text: resource["text"] };
    if (typeof resource["blob"] === "string") return { ...base, blob: resource["blob"] };
  }
  return jsonContents(uri, block);
}

function jsonContents(uri: string, value: unknown): JsonObject {
  return { uri, mimeType: "application/json", text: JSON.stringify(value) };
}

function notFound(uri: string): HubError {
  return new HubError("ToolNotFound", "Resource not found", {
    detail: `There is no ${JSON.stringify(uri.slice(0, 100))}`,
    hint: "The rest of a result is kept for 15 minutes, for the client that got it. Call the tool again",
  });
}
