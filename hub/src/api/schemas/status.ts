// Status of the hub.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";
import { errorBody } from "./error.ts";

export const status = component(
  "Status",
  z.object({
    version: z.string(),
    pid: z.int(),
    started_at: z.string(),
    uptime_ms: z.int(),
    public_url: describe(z.nullable(z.string()), "The origin under which clients reach the hub"),
    demo: describe(z.boolean(), "There is no config yet, and the built-in demo server runs"),
    revision: z.string(),
    servers: describe(z.record(z.string(), z.int()), "Number of servers in each state, and `total`"),
    groups: z.int(),
    tools: z.int(),
    event_streams: z.int(),
    question_limit_ms: describe(z.int(), "How long the hub waits for a client's answer to a question of a server"),
    warnings: z.array(z.string()),
    config_error: describe(
      z.nullable(errorBody),
      "Why the current config files are rejected; the last valid config stays in force",
    ),
    degraded: describe(z.array(z.string()), "What does not work at the moment"),
  }),
);
export type HubStatus = z.infer<typeof status>;
