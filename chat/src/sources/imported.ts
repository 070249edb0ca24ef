// A source that holds what was imported from files. There is nothing to connect to, and nothing comes by itself.

import type { ChatSource, SourceContext } from "../source.ts";

export interface ImportedOptions {
  readonly id: string;
  readonly name: string;
}

export function createImported({ id, name }: ImportedOptions): ChatSource {
  return {
    id,
    kind: "import",
    name,
    capabilities: { history: "snapshot", stream: false, backfill: false, send: false },
    run: async ({ onState, signal }: SourceContext) => {
      onState({ status: "connected" });
      await aborted(signal);
    },
  };
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
