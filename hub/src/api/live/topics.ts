// Which events there are, and which of them a reader asked for.

import { HubError } from "../../errors.ts";

/** A topic is what a reader names; several events may belong to one. */
const TOPICS = {
  server: ["server.status", "server.circuit", "server.tools"],
  log: ["server.log"],
  catalog: ["catalog.changed"],
  call: ["call.finished"],
  config: ["config.reloaded", "config.rejected"],
  warning: ["warning"],
} as const;

export type EventName = (typeof TOPICS)[keyof typeof TOPICS][number];

/** By the name of a topic, or its own. */
const EVENTS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...Object.entries(TOPICS),
  ...Object.values(TOPICS)
    .flat()
    .map((event): [string, string[]] => [event, [event]]),
]);

/** The events of a list of topics, or of events, by comma; all of them where there is no list. */
export function parseTopics(topics: string | undefined): ReadonlySet<string> {
  if (topics === undefined) return new Set([...EVENTS.values()].flat());
  const events = topics.split(",").flatMap((topic) => {
    const known = EVENTS.get(topic.trim());
    if (known !== undefined) return known;
    throw new HubError("InvalidConfig", `There is no topic "${topic}"`, {
      field: "topics",
      hint: `Topics: ${[...EVENTS.keys()].join(", ")}`,
    });
  });
  return new Set(events);
}
