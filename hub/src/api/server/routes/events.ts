// The event stream.

import * as z from "zod/mini";
import { describe } from "../../schemas/docs.ts";
import type { Core } from "../core.ts";
import type { EventStreams } from "../live/event-streams.ts";
import { parseTopics } from "../live/topics.ts";
import { routesOf, SENT, type Route } from "../route.ts";

const { get } = routesOf("events");

const query = z.strictObject({
  topics: describe(
    z.optional(z.string()),
    "Comma-separated list of: server, log, catalog, call, session, config, logins, warning; default: all",
  ),
  server: describe(z.optional(z.string()), "Omit events about other servers"),
});

export function eventRoutes({ supervisor }: Pick<Core, "supervisor">, streams: EventStreams): Route[] {
  return [
    get("/events", "streamEvents", "Events of the hub as server-sent events; to resume, send Last-Event-ID", {
      query,
      answer: z.string(),
      answerType: "text/event-stream",
      run: ({ query: { topics, server }, header, response }) => {
        streams.add(response, {
          events: parseTopics(topics),
          server: server === undefined ? undefined : supervisor.get(server).name,
          lastEventId: header("last-event-id"),
        });
        return SENT;
      },
    }),
  ];
}
