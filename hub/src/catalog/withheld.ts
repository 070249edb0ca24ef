// Tools that a person has to look at before they can be used again.

import { HubError } from "../errors.ts";
import type { WithheldReason } from "./listing.ts";
import { quote } from "./quote.ts";

const WHY: Readonly<Record<WithheldReason, string>> = {
  added: "is new, and was not approved",
  changed: "has changed since it was approved",
  unknown: "is withheld, since what was approved cannot be read",
};

export function withheldError(server: string, tool: string, reason: WithheldReason): HubError {
  return new HubError("ApprovalRequired", "Tool not approved", {
    detail: `Tool ${quote(tool)} of server ${quote(server)} ${WHY[reason]}`,
    hint: `plugboard approve ${server}`,
  });
}
