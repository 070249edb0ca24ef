// A source that holds what was imported from files that are not named: there is nothing to read, and nothing comes by itself.

import type { ChatSource } from "../source.ts";

export interface ImportedOptions {
  readonly id: string;
  readonly name: string;
}

export function createImported({ id, name }: ImportedOptions): ChatSource {
  return {
    id,
    kind: "import",
    name,
    capabilities: { history: "snapshot", stream: false, backfill: false, send: false, tells: [] },
    run: async ({ onState }) => onState({ status: "connected" }),
  };
}
