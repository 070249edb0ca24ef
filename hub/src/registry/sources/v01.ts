// A registry that speaks the API of the official one (v0.1): the official registry, and mirrors of it.

import { HubError, toHubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import type { Freshness, Registry, SearchPage, SearchRequest, ServerRecord } from "../model.ts";
import { textOf } from "../server-json/fields.ts";
import { readServerJson } from "../server-json/record.ts";
import { parseAnswer, type RegistryServer } from "./ask.ts";
import { score, wordsOf } from "./words.ts";

export interface V01Options {
  readonly registry: string;
  /** Without a slash at the end. */
  readonly base: string;
  readonly server: RegistryServer;
}

const PAGE_MAX = 100;

export class V01Registry implements Registry {
  readonly #options: V01Options;

  constructor(options: V01Options) {
    this.#options = options;
  }

  async search({ query, cursor, limit, signal }: SearchRequest): Promise<SearchPage & Freshness> {
    const words = wordsOf(query);
    const url = new URL(`${this.#options.base}/v0.1/servers`);
    // It finds a part of a name: all other words are looked for here.
    const longest = words.toSorted((one, other) => other.length - one.length)[0];
    if (longest !== undefined) url.searchParams.set("search", longest);
    url.searchParams.set("version", "latest");
    url.searchParams.set("limit", String(Math.min(words.length > 1 ? PAGE_MAX : limit, PAGE_MAX)));
    if (cursor !== undefined) url.searchParams.set("cursor", cursor);
    try {
      const { text, ...freshness } = await this.#options.server.ask(url.href, signal);
      const { servers, nextCursor } = this.#page(text);
      return { servers: matching(servers, words), ...(nextCursor === undefined ? {} : { nextCursor }), ...freshness };
    } catch (thrown) {
      const error = toHubError(thrown);
      if (error.kind === "Cancelled") throw error;
      return this.#offline(words, limit, error);
    }
  }

  async get(
    name: string,
    version: string | undefined,
    signal?: AbortSignal,
  ): Promise<{ readonly record: ServerRecord } & Freshness> {
    const { base, registry, server } = this.#options;
    const path = `${encodeURIComponent(name)}/versions/${encodeURIComponent(version ?? "latest")}`;
    try {
      const { text, ...freshness } = await server
        .ask(`${base}/v0.1/servers/${path}`, signal)
        .catch((error: unknown) => {
          const isAbsent = error instanceof HubError && error.kind === "ServerNotFound";
          throw isAbsent ? notFound(registry, name, version) : error;
        });
      const record = readServerJson(parseAnswer(registry, text));
      if (record.name !== name || (version !== undefined && record.version !== version)) {
        throw new HubError("ProtocolError", `${registry} answered with another server than ${name}`);
      }
      requireOffered(record, registry);
      return { record, ...freshness };
    } catch (thrown) {
      const error = toHubError(thrown);
      if (error.code !== "NETWORK_ERROR") throw error;
      const seen = await this.#seen();
      const found = seen.find(({ record }) => record.name === name && (version ?? record.version) === record.version);
      if (found === undefined) throw error;
      return { ...found, problem: error.message };
    }
  }

  /** What was seen in answers to other questions. */
  async #offline(words: readonly string[], limit: number, error: HubError): Promise<SearchPage & Freshness> {
    const seen = await this.#seen();
    if (seen.length === 0) throw error;
    const servers = matching(
      seen.map(({ record }) => record),
      words,
    );
    const seenAt = Math.min(...seen.map((each) => each.seenAt));
    return { servers: servers.slice(0, limit), seenAt, problem: error.message };
  }

  /** The newest answer about each server. */
  async #seen(): Promise<{ record: ServerRecord; seenAt: number }[]> {
    const found = new Map<string, { record: ServerRecord; seenAt: number }>();
    for (const { text, seenAt } of await this.#options.server.seen()) {
      try {
        for (const record of this.#page(text).servers) {
          const key = JSON.stringify([record.name, record.version]);
          if (!found.has(key)) found.set(key, { record, seenAt });
        }
      } catch {
        continue; // an answer that is of no use
      }
    }
    return [...found.values()];
  }

  /** The servers of an answer, of which those that are no servers are left out. */
  #page(text: string): { servers: ServerRecord[]; nextCursor?: string } {
    const { registry } = this.#options;
    const json = parseAnswer(registry, text);
    if (!isObject(json)) throw new HubError("ProtocolError", `${registry} answered with something that is not a list`);
    const listed: unknown = json["servers"] ?? (json["server"] === undefined ? undefined : [json]);
    if (!Array.isArray(listed)) {
      throw new HubError("ProtocolError", `${registry} answered with something that is not a list of servers`);
    }
    const servers = listed.slice(0, PAGE_MAX * 10).flatMap((each: unknown) => {
      try {
        return [readServerJson(each)];
      } catch (thrown) {
        if (thrown instanceof HubError) return [];
        throw thrown;
      }
    });
    const metadata = isObject(json["metadata"]) ? json["metadata"] : {};
    const nextCursor = textOf(metadata, "nextCursor");
    return { servers, ...(nextCursor === undefined || nextCursor.length > 2048 ? {} : { nextCursor }) };
  }
}

function matching(servers: readonly ServerRecord[], words: readonly string[]): ServerRecord[] {
  const byName = new Map<string, ServerRecord>();
  for (const record of servers) {
    if (record.state === "deleted" || score(record, words) === 0) continue;
    if (!byName.has(record.name)) byName.set(record.name, record);
  }
  return [...byName.values()];
}

/** A deleted server must not be added. */
export function requireOffered(record: ServerRecord, registry: string): void {
  if (record.state !== "deleted") return;
  throw new HubError("ServerNotFound", `${record.name} was removed from ${registry}`);
}

export function notFound(registry: string, name: string, version: string | undefined): HubError {
  const what = version === undefined ? name : `${name} ${version}`;
  return new HubError("ServerNotFound", `${registry} has no server ${what}`, {
    hint: `plugboard search ${name.slice(name.lastIndexOf("/") + 1)}`,
  });
}
