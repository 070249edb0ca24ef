// Text of the Secrets page.

import { and, count, plural } from "../lib/text/format.ts";

export const secrets = {
  title: "Secrets",
  heading: (stored: number, missing: number) =>
    [missing === 0 ? "" : `${plural(missing, "secret")} missing`, stored === 0 ? "" : `${count(stored)} stored`]
      .filter(Boolean)
      .join(", ") || "No secrets",
  none: "No secrets are stored. Servers that need a token or a password take it from here.",
  intro: "Values are stored encrypted, given to servers when they start, and never shown again.",
  missing: "Missing",
  missingHint: "These servers refer to a secret that is not stored.",
  stored: "Stored",
  unused: (n: number) => `${count(n)} unused`,
  unusedHint: "No server refers to these.",
  columns: { name: "Name", usedBy: "Used by", setAt: "Set", actions: "Actions" },
  usedBy: (server: string, variable: string, name: string) => (variable === name ? server : `${server} as ${variable}`),
  neededBy: "Needed by",
  notUsed: "–",
  notKnown: "not known",
  add: "Set a secret",
  name: "Name",
  nameHint: "Letters, digits and _ . - are allowed: GITHUB_TOKEN",
  value: "Value",
  valueOf: (name: string) => `Value of ${name}`,
  fromFile: "Read from a file",
  fileRead: (name: string) => `Read from ${name}.`,
  fileTooLong: "The file is too long for a secret.",
  save: "Save",
  cancel: "Cancel",
  replace: "Replace",
  remove: "Delete",
  removeTitle: (name: string) => `Delete ${name}?`,
  removeUsed: (servers: readonly string[]) =>
    `${and(servers)} will not start without it. A server that runs keeps it until it stops.`,
  removeUnused: "No server refers to it. It cannot be brought back.",
  removed: (name: string) => `${name} is deleted`,
  saved: (name: string) => `${name} is stored.`,
  starting: (servers: readonly string[]) => `${and(servers)} waited for it and start now.`,
  atNextStart: (servers: readonly string[]) => `${and(servers)} take it at the next start.`,
  restartNow: (n: number) => (n === 1 ? "Restart now" : `Restart ${count(n)} now`),
  restarted: (servers: readonly string[]) => `${and(servers)} restarted`,
  rotate: "New encryption key",
  rotateText: "All secrets are encrypted again with a new key. Values do not change, and servers keep running.",
  rotated: (n: number) => `${plural(n, "secret")} encrypted with a new key`,
};
