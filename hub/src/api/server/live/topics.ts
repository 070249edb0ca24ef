// Topics and their events.

import { HubError } from "../../../errors.ts";

const TOPICS = {
  server: ["server.status", "server.circuit", "server.tools", "server.approved"],
  log: ["server.log"],
  catalog: ["catalog.changed"],
  call: ["call.started", "call.finished"],
  approval: ["approval.pending", "approval.ended"],
  session: ["session.opened", "session.closed"],
  config: ["config.reloaded", "config.rejected", "group.changed", "secret.changed"],
  logins: [
    "login.required",
    "login.started",
    "login.completed",
    "login.failed",
    "login.renewed",
    "login.retrying",
    "login.expired",
    "login.revoked",
  ],
  warning: ["warning"],
} as const;

export type EventName = (typeof TOPICS)[keyof typeof TOPICS][number];

/** By the name of a topic or of an event. */
const EVENTS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...Object.entries(TOPICS),
  ...Object.values(TOPICS)
    .flat()
    .map((event): [string, string[]] => [event, [event]]),
]);

/** The events of a comma-separated list of topics or events; all events if there is no list. */
export function parseTopics(topics: string | undefined): ReadonlySet<string> {
  if (topics === undefined) return new Set([...EVENTS.values()].flat());
  const events = topics.split(",").flatMap((topic) => {
    const known = EVENTS.get(topic.trim());
    if (known !== undefined) return known;
    throw new HubError("InvalidArgument", `There is no topic "${topic}"`, {
      field: "topics",
      hint: `Topics: ${[...EVENTS.keys()].join(", ")}`,
    });
  });
  return new Set(events);
}
