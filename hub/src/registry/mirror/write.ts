// Copies a registry into a folder, as the pages of its list: for machines without a network, and for a registry of one's own. The
// folder is replaced when everything has been read, not before.

import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { HubError } from "../../errors.ts";
import { writeFileAtomic } from "../../lib/files/atomic.ts";
import { isObject } from "../../lib/json/json.ts";
import { createGuardedFetch } from "../../oauth/fetch/guarded-fetch.ts";
import { trimEnd } from "@plugboard/shared/trim";
import { textOf } from "../server-json/fields.ts";
import { readServerJson } from "../server-json/record.ts";
import { documentsIn } from "../sources/folder.ts";

const PAGE = 500;
const ASKED = 100;
const PAGES_MAX = 5000;
const ANSWER_MAX_BYTES = 32 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
const PAGE_FILE = /^servers-\d{5}\.json$/;

export interface MirrorRequest {
  /** The address of the registry. */
  readonly url: string;
  readonly folder: string;
  /** Only what has changed since then is read; the rest stays as it is. */
  readonly since?: string | undefined;
  /** Called after each page. */
  readonly onProgress?: (servers: number) => void;
  readonly signal?: AbortSignal;
}

export interface Mirrored {
  /** Versions of servers in the folder. */
  readonly servers: number;
  /** Of them: read now. */
  readonly read: number;
}

export async function writeMirror({ url, folder, since, onProgress, signal }: MirrorRequest): Promise<Mirrored> {
  const base = `${trimEnd(url, "/")}/v0.1/servers`;
  if (!URL.canParse(base))
    throw new HubError("InvalidArgument", "The registry needs an address", { field: "registry" });
  const fetch = createGuardedFetch({ server: new URL(base), maxBytes: ANSWER_MAX_BYTES });
  const documents = new Map<string, unknown>();
  if (since !== undefined) for (const document of (await documentsIn(folder)).documents) put(documents, document);
  let read = 0;
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const query = new URLSearchParams({ limit: String(ASKED) });
    if (since !== undefined) query.set("updated_since", since);
    if (cursor !== undefined) query.set("cursor", cursor);
    const response = await fetch(`${base}?${query.toString()}`, { signal, timeoutMs: TIMEOUT_MS });
    if (!response.ok) throw new HubError("ConnectionFailed", `${url} answered with HTTP status ${response.status}`);
    const { servers, next } = readPage(await response.text(), url);
    for (const server of servers) put(documents, server);
    read += servers.length;
    onProgress?.(read);
    if (next === undefined || next === cursor) break;
    cursor = next;
  }
  await writePages(folder, [...documents.values()]);
  return { servers: documents.size, read };
}

function readPage(text: string, url: string): { servers: readonly unknown[]; next: string | undefined } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new HubError("ProtocolError", `${url} answered with something that is not JSON`);
  }
  const servers = isObject(json) ? json["servers"] : undefined;
  if (!isObject(json) || !Array.isArray(servers)) {
    throw new HubError("ProtocolError", `${url} answered with something that is not a list of servers`);
  }
  const metadata = isObject(json["metadata"]) ? json["metadata"] : {};
  return { servers, next: textOf(metadata, "nextCursor") };
}

/** By name and version. What is no server is left out. */
function put(documents: Map<string, unknown>, document: unknown): void {
  try {
    const { name, version } = readServerJson(document);
    documents.set(JSON.stringify([name, version]), document);
  } catch (thrown) {
    if (!(thrown instanceof HubError)) throw thrown;
  }
}

async function writePages(folder: string, documents: readonly unknown[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const written = new Set<string>();
  for (let begin = 0, page = 1; begin === 0 || begin < documents.length; begin += PAGE, page++) {
    const file = `servers-${String(page).padStart(5, "0")}.json`;
    const servers = documents.slice(begin, begin + PAGE);
    const text = `${JSON.stringify({ servers, metadata: { count: servers.length } })}\n`;
    await writeFileAtomic(join(folder, file), text, { mode: 0o644 });
    written.add(file);
  }
  const old = (await readdir(folder)).filter((file) => PAGE_FILE.test(file) && !written.has(file));
  await Promise.all(old.map((file) => rm(join(folder, file), { force: true })));
}
