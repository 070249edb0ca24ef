// The tool index of each group that a screen shows, read again when the hub says that it has changed.

import { api, Problem } from "../lib/hub/api.ts";
import type { ToolIndex as ToolIndexAnswer } from "$api/tool.ts";
import { ToolIndex } from "../lib/tools/tool-index.ts";
import { live } from "./live.svelte.ts";

/** Many servers start at the same time: their tools are read at most this often. */
const REFRESH_MS = 2000;

interface Entry {
  readonly index: ToolIndex | undefined;
  readonly problem: Problem | undefined;
}

const NOTHING: Entry = { index: undefined, problem: undefined };

class ToolsStore {
  /** By group; "" are the tools of all servers under their own names. */
  #entries: ReadonlyMap<string, Entry> = $state.raw(new Map());
  readonly #users = new Map<string, number>();
  #stop: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  get(group = ""): Entry {
    return this.#entries.get(group) ?? NOTHING;
  }

  /** Keeps the index of a group up to date: `$effect(() => tools.use(group))`. */
  use(group = ""): () => void {
    this.#users.set(group, (this.#users.get(group) ?? 0) + 1);
    this.#stop ??= this.#follow();
    void this.load(group);
    return () => {
      const left = (this.#users.get(group) ?? 1) - 1;
      if (left > 0) this.#users.set(group, left);
      else this.#users.delete(group);
      if (this.#users.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
    };
  }

  async load(group = ""): Promise<void> {
    const path = group === "" ? "/tools?view=index" : `/groups/${encodeURIComponent(group)}/tools?view=index`;
    try {
      this.#put(group, { index: new ToolIndex(await api.get<ToolIndexAnswer>(path)), problem: undefined });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#put(group, { index: this.get(group).index, problem: error });
    }
  }

  #put(group: string, entry: Entry): void {
    this.#entries = new Map(this.#entries).set(group, entry);
  }

  #follow(): () => void {
    const soon = () => {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        for (const group of this.#users.keys()) void this.load(group);
      }, REFRESH_MS);
    };
    const offs = [
      live.on("catalog.changed", soon),
      live.on("config.reloaded", soon),
      live.on("group.changed", soon),
      live.onFresh(soon),
    ];
    return () => {
      for (const off of offs) off();
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }
}

export const tools = new ToolsStore();
