// Live events, as a stream.

import { z } from "@hono/zod-openapi";
import type { Core } from "../core.ts";
import type { EventStreams } from "../live/event-streams.ts";
import { parseTopics } from "../live/topics.ts";
import { route, SENT, type Route } from "../route.ts";

const query = z.strictObject({
  topics: z
    .string()
    .optional()
    .openapi({ description: "Some of: server, log, catalog, call, config, warning; by comma" }),
  server: z.string().optional().openapi({ description: "Of the events about one server, only this one's" }),
});

export function eventRoutes({ supervisor }: Pick<Core, "supervisor">, streams: EventStreams): Route[] {
  return [
    route({
      method: "get",
      path: "/events",
      tag: "events",
      id: "streamEvents",
      summary:
        "What happens in the hub, as it happens (server-sent events); a reader that comes back sends Last-Event-ID",
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
