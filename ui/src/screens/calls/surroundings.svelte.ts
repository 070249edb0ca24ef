// What stands around the list of calls: the histogram and the choices of the filter.

import type { Series, Stats } from "$api/call.ts";
import { api } from "../../lib/hub/api.ts";
import { DAY } from "../../lib/text/format.ts";

const BUCKETS = 96;
const AGAIN_MS = 30_000;
/** Calls are kept for so long unless the hub is told otherwise. */
const ALL_MS = 30 * DAY;

export class Surroundings {
  series: Series | undefined = $state.raw();
  clients: readonly string[] = $state.raw([]);
  #stats: readonly Stats[] = $state.raw([]);

  readonly servers: readonly string[] = $derived(
    this.#stats.map((each) => each.server_name).filter((name) => name !== ""),
  );

  toolsOf(server: string | undefined): string[] {
    const wanted = this.#stats.filter((each) => server === undefined || each.server_name === server);
    return [...new Set(wanted.flatMap((each) => each.tools.map((tool) => tool.tool_name)))].toSorted();
  }

  /** Reads for a filter, and again from time to time. Returns the function that ends it. */
  follow(params: URLSearchParams, isAll: boolean): () => void {
    const abort = new AbortController();
    const read = (): void => {
      if (document.visibilityState === "visible") void this.#read(new URLSearchParams(params), isAll, abort.signal);
    };
    void this.#readChoices(params, abort.signal);
    read();
    const timer = setInterval(read, AGAIN_MS);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }

  /** The list is the page: what stands around it may be missing without a word. */
  async #read(params: URLSearchParams, isAll: boolean, signal: AbortSignal): Promise<void> {
    try {
      // All that is kept: the series need a beginning.
      if (isAll) params.set("since", new Date(Date.now() - ALL_MS).toISOString());
      params.set("buckets", String(BUCKETS));
      this.series = await api.get<Series>(`/stats/series?${params}`, { signal });
    } catch {
      if (!signal.aborted) this.series = undefined;
    }
  }

  async #readChoices(params: URLSearchParams, signal: AbortSignal): Promise<void> {
    const since = params.get("since");
    const time = new URLSearchParams(since === null ? {} : { since });
    try {
      const [stats, byClient] = await Promise.all([
        api.get<Stats[]>(`/stats?${time}`, { signal }),
        api.get<Series>(`/stats/series?${time}&buckets=1&by=client`, { signal }),
      ]);
      this.#stats = stats;
      this.clients = byClient.series.flatMap(({ key }) => (key === null || key === "other" ? [] : [key]));
    } catch {
      // The choices of before are still useful.
    }
  }
}
