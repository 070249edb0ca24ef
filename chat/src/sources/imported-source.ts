// A source that only holds imported messages: no file to read, no connection.

import type { ChatSource } from "../model/source.ts";

export interface ImportedOptions {
  readonly id: string;
  readonly name: string;
}

export function createImportedSource({ id, name }: ImportedOptions): ChatSource {
  return {
    id,
    kind: "import",
    name,
    capabilities: { history: "snapshot", stream: false, backfill: false, send: false, changes: [] },
    run: async ({ onState }) => onState({ status: "connected" }),
  };
}
