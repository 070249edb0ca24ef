// Text about approvals of servers and their tools.

import { plural } from "../lib/text/format.ts";

export const approvalText = {
  serverWaits: "It does not run until you have seen what it runs",
  toolsWait: (differences: number) =>
    differences === 0 ? "Its tools wait for an approval" : `${plural(differences, "tool")} not as approved`,
  pins: {
    warn: "They are used all the same: that is the setting of this server.",
    block: "Clients cannot use changed and new tools until you approve them.",
    off: "",
  },
  origin: "Comes from",
  runs: "Runs",
  connects: "Connects to",
  folder: "Folder",
  headers: "Headers",
  variables: "Variables",
  mayUse: "May use",
  change: { added: "new", changed: "changed", removed: "no longer there" },
  withheld: ", withheld",
  before: "Approved: ",
  after: "Now: ",
  approveOne: "Approve",
  approveTool: (tool: string) => `Approve ${tool}`,
  approveAll: "Approve all as they are now",
  approveServer: "Approve and start",
  review: "Review",
  toolsWithheld: (withheld: number) => `${plural(withheld, "tool")} withheld until you approve`,
};
