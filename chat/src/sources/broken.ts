// A source whose config cannot work. It is shown with the reason, and the others run.

import type { ChatError } from "../errors.ts";
import type { ChatSource } from "../source.ts";

export function createBroken(id: string, kind: string, name: string, error: ChatError): ChatSource {
  return {
    id,
    kind,
    name,
    capabilities: { history: "none", stream: false, backfill: false, send: false, tells: [] },
    run: async ({ onState }) => {
      const howToConnect = error.details.hint ?? "Correct its entry in chat.json";
      onState({ status: "error", message: error.message, howToConnect });
    },
  };
}
