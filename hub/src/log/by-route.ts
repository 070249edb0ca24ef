// A map with four strings as its key. Nested maps: four lookups cost less than building one string, and every call does them.

/** The fourth is the client's name, or how it failed, as the user of the table has it. */
export type RouteKey = readonly [server: string, tool: string, group: string, more: string | null];

type ByMore<V> = Map<string | null, V>;

export class ByRoute<V> {
  readonly #servers = new Map<string, Map<string, Map<string, ByMore<V>>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(server: string, tool: string, group: string, more: string | null): V | undefined {
    return this.#servers.get(server)?.get(tool)?.get(group)?.get(more);
  }

  set([server, tool, group, more]: RouteKey, value: V): void {
    const byMore = entryOf(entryOf(entryOf(this.#servers, server), tool), group);
    if (!byMore.has(more)) this.#size++;
    byMore.set(more, value);
  }

  clear(): void {
    this.#servers.clear();
    this.#size = 0;
  }
}

function entryOf<K, V>(map: Map<string, Map<K, V>>, key: string): Map<K, V> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const entry = new Map<K, V>();
  map.set(key, entry);
  return entry;
}
