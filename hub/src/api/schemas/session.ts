// Sessions of MCP clients.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";

export const session = component(
  "Session",
  z.object({
    id: describe(z.string(), "Not the session id of the protocol, which is a secret of the client"),
    client: z.nullable(z.object({ name: z.string(), version: z.string() })),
    transport: describe(
      z.enum(["http", "sse", "websocket", "stdio", "bridge", "stateless"]),
      "`bridge`: `plugboard stdio` beside a running hub; `stateless`: a client of the modern era, which has no session",
    ),
    group: z.string(),
    protocol_version: z.nullable(z.string()),
    since: z.string(),
    last_call_at: z.nullable(z.string()),
    calls: z.int(),
    in_flight: z.int(),
    subscriptions: z.int(),
  }),
);
export type Session = z.infer<typeof session>;
