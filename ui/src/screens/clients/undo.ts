// Brings the file of a client back to what it was before a change.

import { api, Problem } from "../../lib/hub/api.ts";
import { pathTo } from "../../lib/route.ts";
import { toasts } from "../../state/toasts.svelte.ts";
import { clients as text } from "../../text/clients.ts";

export async function undoBackup(id: string, path: string, onchange: () => void): Promise<void> {
  try {
    await api.post(pathTo`/clients/backups/${id}/restore`);
    toasts.show(text.restored(path));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    toasts.show(error.message);
  }
  onchange();
}
