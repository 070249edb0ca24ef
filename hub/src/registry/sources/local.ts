// A registry whose servers are all at hand: the curated list, Docker's catalogue, a folder.

import type { Freshness, Registry, SearchPage, SearchRequest, ServerRecord } from "../model.ts";
import { notFound, requireOffered } from "./v01.ts";
import { score, wordsOf } from "./words.ts";

export interface Loaded extends Freshness {
  readonly records: readonly ServerRecord[];
}

export class LocalRegistry implements Registry {
  readonly #name: string;
  readonly #load: (signal?: AbortSignal) => Promise<Loaded>;

  /** @param load all versions of all servers; of the versions of one server, the newest first. */
  constructor(name: string, load: (signal?: AbortSignal) => Promise<Loaded>) {
    this.#name = name;
    this.#load = load;
  }

  async search({ query, cursor, limit, signal }: SearchRequest): Promise<SearchPage & Freshness> {
    const { records, ...freshness } = await this.#load(signal);
    const words = wordsOf(query);
    const newest = new Map<string, ServerRecord>();
    for (const record of records) {
      if (record.state !== "deleted" && !newest.has(record.name)) newest.set(record.name, record);
    }
    const found = [...newest.values()]
      .map((record) => ({ record, points: score(record, words) }))
      .filter(({ points }) => points > 0)
      .toSorted((one, other) => other.points - one.points)
      .map(({ record }) => record);
    const begin = Math.max(0, Number(cursor ?? 0) || 0);
    const servers = found.slice(begin, begin + limit);
    const end = begin + servers.length;
    return { servers, ...(end < found.length ? { nextCursor: String(end) } : {}), ...freshness };
  }

  async get(
    name: string,
    version: string | undefined,
    signal?: AbortSignal,
  ): Promise<{ readonly record: ServerRecord } & Freshness> {
    const { records, ...freshness } = await this.#load(signal);
    const record = records.find((each) => each.name === name && (version === undefined || each.version === version));
    if (record === undefined) throw notFound(this.#name, name, version);
    requireOffered(record, this.#name);
    return { record, ...freshness };
  }
}
