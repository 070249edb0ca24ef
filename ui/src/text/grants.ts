// Text about OAuth clients that have access.

import { and } from "../lib/text/format.ts";

export const grants = {
  title: "Clients that have logged in",
  hint: "Programs that people have let use the hub, by OAuth. They get tokens for some groups, and no others.",
  none: "No client has logged in.",
  columns: {
    client: "Client",
    goesTo: "Goes to",
    for: "For",
    groups: "Groups",
    expires: "Expires",
    used: "Last used",
    actions: "Actions",
  },
  noName: "(no name)",
  readOnly: "read-only",
  never: "never",
  chosen: (groups: readonly string[]) => and(groups),
  end: "End access",
  endTitle: (name: string) => `End the access of ${name}?`,
  endText: "It is cut off at once: streams, sessions and running calls end. It may ask for access again.",
  ended: (name: string) => `Ended the access of ${name}`,
};
