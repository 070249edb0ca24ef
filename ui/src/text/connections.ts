// Text of the page My connections.

import { and } from "../lib/text/format.ts";

export const connections = {
  title: "My connections",
  intro: "Some servers want a login or a key of each person. Yours are used for your calls only.",
  logins: "My logins",
  noLogins: "No server wants a login of each person.",
  followed: (server: string) => `A call of yours needs a login at ${server}: log in below, then repeat the call.`,
  secrets: "My secrets",
  secretsHint: "Values are stored encrypted, given to servers only for your calls, and never shown again.",
  noSecrets: "No server wants a secret of each person.",
  columns: { name: "Name", usedBy: "Used by", setAt: "Set", actions: "Actions" },
  missing: "not stored",
  notUsed: "–",
  notKnown: "not known",
  hint: (servers: readonly string[]) => (servers.length === 0 ? undefined : `For ${and(servers)}`),
  set: "Store",
  replace: "Replace",
  remove: "Delete",
  removeTitle: (name: string) => `Delete ${name}?`,
  removeText: "Your calls to servers that need it fail until you store it again.",
  saved: (name: string) => `${name} is stored`,
  removed: (name: string) => `${name} is deleted`,
};
