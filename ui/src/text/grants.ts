// Text about OAuth clients that have access.

import { and } from "../lib/text/format.ts";

export const grants = {
  title: "OAuth clients",
  hint: "Programs that people have let use the hub, by OAuth, and programs with credentials of their own. They get tokens for some groups, and no others.",
  none: "No OAuth client has access.",
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
  program: "own credentials",
  readOnly: "read-only",
  never: "never",
  chosen: (groups: readonly string[]) => and(groups),
  end: "End access",
  endTitle: (name: string) => `End the access of ${name}?`,
  endText: "It is cut off at once: streams, sessions and running calls end. It may ask for access again.",
  ended: (name: string) => `Ended the access of ${name}`,
};
