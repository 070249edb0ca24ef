// Schemas of the Matrix client-server API. Fields that are not used are dropped.

import { z } from "zod";

const relation = z
  .object({
    rel_type: z.string().optional(),
    event_id: z.string().optional(),
    key: z.string().optional(),
    "m.in-reply-to": z.object({ event_id: z.string().optional() }).optional(),
  })
  .optional()
  .catch(undefined);

const text = z.string().optional().catch(undefined);

const info = z
  .object({
    mimetype: text,
    size: z.number().optional().catch(undefined),
    duration: z.number().optional().catch(undefined),
  })
  .optional()
  .catch(undefined);

/** Content of any event type. Clients can send anything, so every field is optional. */
const content = z
  .object({
    msgtype: text,
    body: text,
    filename: text,
    format: text,
    info,
    name: text,
    alias: text,
    displayname: text,
    membership: text,
    type: text,
    redacts: text,
    geo_uri: text,
    "m.relates_to": relation,
    "m.new_content": z.object({ body: text, msgtype: text }).optional().catch(undefined),
  })
  .catch({});

const event = z.object({
  event_id: z.string(),
  type: z.string(),
  sender: z.string(),
  origin_server_ts: z.number(),
  state_key: text,
  redacts: text,
  content,
});

/** Stripped state events have no id and no time. */
const stateEvent = event.partial({ event_id: true, origin_server_ts: true });

/** Read receipts. Receipts of threads are ignored. */
const receipts = z.object({
  type: z.literal("m.receipt"),
  content: z.record(
    z.string(),
    z.record(
      z.string(),
      z.record(z.string(), z.object({ ts: z.number().default(0), thread_id: text }).catch({ ts: 0 })).catch({}),
    ),
  ),
});

const room = z.object({
  ephemeral: z.object({ events: z.array(z.unknown()).default([]) }).default({ events: [] }),
  summary: z
    .object({
      "m.heroes": z.array(z.string()).optional(),
      "m.joined_member_count": z.number().optional(),
    })
    .default({}),
  state: z.object({ events: z.array(z.unknown()).default([]) }).default({ events: [] }),
  timeline: z
    .object({ events: z.array(z.unknown()).default([]), limited: z.boolean().default(false), prev_batch: text })
    .default({ events: [], limited: false }),
});

const sync = z.object({
  next_batch: z.string(),
  rooms: z.object({ join: z.record(z.string(), room).default({}) }).default({ join: {} }),
  account_data: z.object({ events: z.array(z.unknown()).default([]) }).default({ events: [] }),
});

const direct = z.object({ type: z.literal("m.direct"), content: z.record(z.string(), z.array(z.string())) });

const messages = z.object({ chunk: z.array(z.unknown()), end: text, state: z.array(z.unknown()).default([]) });

const refusal = z.object({ errcode: z.string(), error: z.string().default(""), retry_after_ms: z.number().optional() });

export type Event = z.infer<typeof event>;
export type StateEvent = z.infer<typeof stateEvent>;
export type Messages = z.infer<typeof messages>;
export type SyncRoom = z.infer<typeof room>;

export const wire = {
  anything: z.unknown(),
  context: z.object({ start: text, event: z.unknown().optional() }),
  direct,
  event,
  messages,
  receipts,
  nearest: z.object({ event_id: z.string() }),
  refusal,
  sent: z.object({ event_id: z.string() }),
  stateEvent,
  sync,
  whoami: z.object({ user_id: z.string() }),
};
