// Browsers of the web interface, and how they are signed in. No schema has a place for the half of a session that is in the cookie.

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

export const signInProvider = component(
  "SignInProvider",
  z.object({ name: describe(z.string(), "As people know it") }),
);
export type SignInProvider = z.infer<typeof signInProvider>;

export const uiSignInStart = component(
  "UiSignInStart",
  z.strictObject({
    provider: describe(z.string().check(z.minLength(1), z.maxLength(64)), "The name of an identity provider"),
    return_to: describe(
      z.optional(z.string().check(z.maxLength(2048))),
      "A path of the hub for afterwards; what is no such path is ignored",
    ),
  }),
);

export const uiSignInBegun = component(
  "UiSignInBegun",
  z.object({ url: describe(z.string(), "Where the browser goes to sign in") }),
);
export type UiSignInBegun = z.infer<typeof uiSignInBegun>;

const who = {
  user: describe(z.optional(z.string()), "Who is signed in; missing for the owner of the hub, who used a link"),
  role: describe(z.enum(["user", "operator", "admin"]), "What this browser may do"),
};

const lastEvent = describe(z.string(), "The newest event: send it as Last-Event-ID to miss none that comes later");

export const uiSignedIn = component(
  "UiSignedIn",
  z.object({
    page_key: describe(z.string(), "Sent as `X-Plugboard-Key` with every request; the other half is a cookie"),
    expires_at: describe(z.string(), "When the session ends, however much it is used"),
    ...who,
    last_event_id: lastEvent,
    return_to: describe(z.optional(z.string()), "The path of the hub that the sign-in was begun for"),
  }),
);
export type UiSignedIn = z.infer<typeof uiSignedIn>;

export const uiSession = component(
  "UiSession",
  z.object({
    created_at: z.string(),
    expires_at: z.string(),
    user_agent: z.string(),
    ...who,
    last_event_id: lastEvent,
  }),
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
    ...who,
  }),
);
export type UiSessionEntry = z.infer<typeof uiSessionEntry>;

export const uiSignedOut = component(
  "UiSignedOut",
  z.object({ url: describe(z.optional(z.string()), "Where the browser also signs out at its identity provider") }),
);
export type UiSignedOut = z.infer<typeof uiSignedOut>;
