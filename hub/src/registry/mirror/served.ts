// A mirror as other hubs see it: answers of the API of the official registry (v0.1), made of the servers in a folder. What is asked
// for is looked up among these: no request names a file.

import { HubError, toHubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import type { ServerRecord } from "../model.ts";
import { fingerprintOf, serversIn, type DescribedServer } from "../sources/folder.ts";
import { notFound } from "../sources/v01.ts";
import { score, wordsOf } from "../sources/words.ts";

/** The folder is looked at again after this time. */
const FRESH_MS = 10_000;
const LIMIT = 30;
const LIMIT_MAX = 100;
const LATEST = "latest";

export interface ServedMirrorOptions {
  readonly folder: string;
  /** The folder cannot be read. */
  readonly onWarning: (message: string) => void;
  readonly now?: () => number;
}

export interface ListRequest {
  /** All of its words are in the name, title or description. */
  readonly search?: string | undefined;
  /** `latest`, or an exact version. */
  readonly version?: string | undefined;
  /** Of the page before. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  /** Milliseconds since the epoch. What has changed since then includes what was deleted. */
  readonly updatedSince?: number | undefined;
}

interface ServedServer {
  /** Unique, and the order of the list: the cursor of a page is that of its last server. */
  readonly key: string;
  readonly summary: Omit<ServerRecord, "offers" | "unusable">;
  /** The answer about it. */
  readonly text: string;
}

interface Content {
  readonly fingerprint: string;
  /** In the order of their keys. */
  readonly servers: readonly ServedServer[];
  readonly byKey: ReadonlyMap<string, ServedServer>;
  /** By name. */
  readonly latest: ReadonlyMap<string, ServedServer>;
}

export class ServedMirror {
  readonly #options: ServedMirrorOptions;
  #content: Promise<Content> | undefined;
  #checkedAt = -Infinity;

  constructor(options: ServedMirrorOptions) {
    this.#options = options;
  }

  /** Warns if the folder cannot be read. */
  async check(): Promise<void> {
    const { folder, onWarning } = this.#options;
    await fingerprintOf(folder).catch((thrown: unknown) => onWarning(warningOf(thrown)));
  }

  /** A page, as JSON. */
  async list({ search = "", version, cursor, limit = LIMIT, updatedSince }: ListRequest): Promise<string> {
    if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) {
      throw new HubError("InvalidArgument", `limit is a number from 1 to ${LIMIT_MAX}`, { field: "limit" });
    }
    const { servers, latest } = await this.#read();
    const words = wordsOf(search);
    const matches = (server: ServedServer) => {
      const { key, summary } = server;
      if (cursor !== undefined && key <= cursor) return false;
      if (version === LATEST ? latest.get(summary.name) !== server : (version ?? summary.version) !== summary.version)
        return false;
      if (updatedSince === undefined ? summary.state === "deleted" : isBefore(summary.updatedAt, updatedSince))
        return false;
      return score(summary, words) > 0;
    };
    const page: ServedServer[] = [];
    for (const server of servers) {
      if (page.length > limit) break;
      if (matches(server)) page.push(server);
    }
    const hasNext = page.length > limit;
    const shown = page.slice(0, limit);
    const metadata = { count: shown.length, ...(hasNext ? { nextCursor: shown.at(-1)?.key } : {}) };
    return `{"servers":[${shown.map(({ text }) => text).join(",")}],"metadata":${JSON.stringify(metadata)}}`;
  }

  /** One version of a server, or its `latest`, as JSON. Throws ServerNotFound. */
  async get(name: string, version: string): Promise<string> {
    const { byKey, latest } = await this.#read();
    const found = version === LATEST ? latest.get(name) : byKey.get(keyOf(name, version));
    if (found !== undefined) return found.text;
    throw notFound("The registry", name.slice(0, 200), version === LATEST ? undefined : version.slice(0, 200));
  }

  #read(): Promise<Content> {
    const { now = Date.now, onWarning } = this.#options;
    if (this.#content === undefined || now() - this.#checkedAt > FRESH_MS) {
      this.#checkedAt = now();
      this.#content = this.#load(this.#content).catch((thrown: unknown) => {
        onWarning(warningOf(thrown));
        // Where the folder is, is not for clients.
        throw new HubError("IoError", "The servers of this registry cannot be read", {
          hint: "The warnings of the hub say why: plugboard status",
          cause: thrown,
        });
      });
    }
    return this.#content;
  }

  async #load(before: Promise<Content> | undefined): Promise<Content> {
    const { folder } = this.#options;
    const known = await before?.catch(() => undefined); // tried again
    // First: a file that changes while it is read is read again later.
    const fingerprint = await fingerprintOf(folder);
    return known?.fingerprint === fingerprint ? known : contentOf(await serversIn(folder), fingerprint);
  }
}

/** @param described of the versions of one server, the newest first. */
function contentOf(described: readonly DescribedServer[], fingerprint: string): Content {
  const byKey = new Map<string, ServedServer>();
  const latest = new Map<string, ServedServer>();
  for (const { document, record } of described) {
    const { offers: _offers, unusable: _unusable, ...summary } = record;
    const key = keyOf(summary.name, summary.version ?? "");
    if (byKey.has(key)) continue;
    const server = { key, summary, text: JSON.stringify(wrapped(document)) };
    byKey.set(key, server);
    const known = latest.get(summary.name);
    const replaces = known?.summary.state === "deleted" && summary.state !== "deleted";
    if (known === undefined || replaces) latest.set(summary.name, server);
  }
  const servers = [...byKey.values()].toSorted((one, other) => (one.key < other.key ? -1 : 1));
  return { fingerprint, servers, byKey, latest };
}

/** Names have no spaces. */
function keyOf(name: string, version: string): string {
  return `${name} ${version}`;
}

/** As registries answer; a server.json of its author has no wrapping. */
function wrapped(document: unknown): unknown {
  const isWrapped = isObject(document) && isObject(document["server"]) && document["name"] === undefined;
  return isWrapped ? document : { server: document, _meta: {} };
}

/** A server that does not say when it was changed may have been changed at any time. */
function isBefore(updatedAt: string | undefined, since: number): boolean {
  return updatedAt !== undefined && Date.parse(updatedAt) < since;
}

function warningOf(thrown: unknown): string {
  return `registry_mirror: ${toHubError(thrown).message}`;
}
