// Events of a request that starts a server and is sent with `Accept: text/event-stream`. The last one is `result` or `problem`.

import * as z from "zod/mini";
import { describe } from "./docs.ts";

export const stageEvent = z.object({
  stage: z.enum(["resolving", "queued", "installing", "launching", "downloading", "handshake", "listing"]),
  elapsed_ms: describe(z.int(), "Since the request"),
});
/** `event: stage` */
export type StageEvent = z.infer<typeof stageEvent>;

export const logEvent = z.object({ text: describe(z.string(), "A line of the server's stderr, without secrets") });
/** `event: log` */
export type LogEvent = z.infer<typeof logEvent>;
