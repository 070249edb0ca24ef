// Stands for a source with an invalid config: shows the error as its state, while other sources run.

import type { ChatError } from "../errors.ts";
import type { ChatSource } from "../model/source.ts";

export function createBrokenSource(id: string, kind: string, name: string, error: ChatError): ChatSource {
  const fault = { message: error.message, hint: error.details.hint ?? "Correct its entry in chat.json" };
  return {
    id,
    kind,
    name,
    capabilities: { history: "none", stream: false, backfill: false, send: false, changes: [] },
    fault,
    run: async ({ onState }) => onState({ status: "error", message: fault.message, howToConnect: fault.hint }),
  };
}
