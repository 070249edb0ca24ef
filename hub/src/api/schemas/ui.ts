// Browsers that are signed in to the web interface. No schema has a place for the half of a session that is in the cookie.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";

export const uiKey = component(
  "UiKey",
  z.object({
    url: describe(z.string(), "A link that signs one browser in, once"),
    expires_at: describe(z.string(), "When the link ends if it is not used"),
  }),
);
export type UiKey = z.infer<typeof uiKey>;

export const uiSignIn = component(
  "UiSignIn",
  z.strictObject({ key: describe(z.string().check(z.minLength(1), z.maxLength(256)), "`k` of the link's fragment") }),
);
export type UiSignIn = z.infer<typeof uiSignIn>;

const lastEvent = describe(z.string(), "The newest event: send it as Last-Event-ID to miss none that comes later");

export const uiSignedIn = component(
  "UiSignedIn",
  z.object({
    page_key: describe(z.string(), "Sent as `X-Plugboard-Key` with every request; the other half is a cookie"),
    expires_at: describe(z.string(), "When the session ends, however much it is used"),
    last_event_id: lastEvent,
  }),
);
export type UiSignedIn = z.infer<typeof uiSignedIn>;

export const uiSession = component(
  "UiSession",
  z.object({ created_at: z.string(), expires_at: z.string(), user_agent: z.string(), last_event_id: lastEvent }),
);
export type UiSession = z.infer<typeof uiSession>;

export const uiSessionEntry = component(
  "UiSessionEntry",
  z.object({
    id: z.string(),
    created_at: z.string(),
    last_seen_at: z.string(),
    user_agent: z.string(),
    current: describe(z.boolean(), "It is the session of this request"),
  }),
);
export type UiSessionEntry = z.infer<typeof uiSessionEntry>;
