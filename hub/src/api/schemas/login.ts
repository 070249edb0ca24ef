// Logins at servers: what is stored of each, and the attempts of people to log in. No answer has a place for a token.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";
import { errorBody } from "./error.ts";

export const login = component(
  "Login",
  z.object({
    server: z.string(),
    principal: describe(z.string(), "Whose login it is; `local` is the user of the hub"),
    state: describe(
      z.enum(["connected", "needs_login", "pending", "retrying", "none"]),
      "`pending`: a person is logging in; `retrying`: the authorization server cannot be reached, the login is intact; `none`: the server has not asked for a login",
    ),
    by: describe(
      z.enum(["person", "machine"]),
      "`machine`: the config has all that is needed, and no person has to log in",
    ),
    issuer: describe(z.optional(z.string()), "The authorization server"),
    account: describe(z.optional(z.string()), "Who is logged in, if the authorization server says so"),
    scopes: z.optional(z.array(z.string())),
    resource: describe(z.optional(z.string()), "What the tokens are for"),
    client_id: z.optional(z.string()),
    registered: describe(
      z.optional(z.enum(["configured", "metadata_document", "registered"])),
      "Where the client id comes from",
    ),
    expires_at: describe(z.optional(z.string()), "End of the current access token"),
    renewed_at: z.optional(z.string()),
    renewable: describe(
      z.optional(z.boolean()),
      "False: there is no refresh token, and the login ends at `expires_at`",
    ),
    error: z.optional(errorBody),
    login_url: describe(z.optional(z.string()), "A page of the hub where a person can log in"),
  }),
);
export type Login = z.infer<typeof login>;

/** Another principal than the caller, which needs the role admin. */
export const onBehalf = (what: string) =>
  describe(
    z.optional(z.string().check(z.minLength(1))),
    `${what}: a user by address or id, \`local\`, or the name of a program. Default: the caller`,
  );

export const onBehalfQuery = z.strictObject({ as: onBehalf("Whose login") });

/** Each member is optional: what is not given comes from the entry, or from the server. */
export const loginInput = component(
  "LoginInput",
  z.strictObject({
    scopes: z.optional(z.array(z.string().check(z.regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, "Not a scope")))),
    client_id: z.optional(z.string().check(z.minLength(1))),
    client_secret: z.optional(z.string().check(z.minLength(1))),
    issuer: z.optional(z.url()),
    as: onBehalf("Whose login it becomes, where each caller has one of its own"),
    link: describe(
      z.optional(z.string().check(z.minLength(1))),
      "What `for` says in the link that the person has followed: refused if it is for somebody else",
    ),
    flow: describe(
      z.optional(z.enum(["browser", "device"])),
      "`device`: the person enters a code in a browser on any machine",
    ),
  }),
);
export type LoginInput = z.infer<typeof loginInput>;

const token = z.string().check(z.regex(/^[!-~]+$/, "Not a token"));

/** The tokens of another program that was logged in with the client of the entry. */
export const takenLogin = component(
  "TakenLogin",
  z.strictObject({ access_token: z.optional(token), refresh_token: z.optional(token) }),
);
export type TakenLogin = z.infer<typeof takenLogin>;

const attempt = {
  id: z.string(),
  server: z.string(),
  principal: describe(z.string(), "Whose login it becomes"),
  state: z.enum(["pending", "completed", "failed"]),
  error: describe(z.nullable(errorBody), "Why it failed"),
  issuer: z.string(),
  authorization_server: describe(z.string(), "Host of the page where the person logs in"),
  scopes: z.array(z.string()),
  expires_at: describe(z.string(), "When the attempt ends by itself"),
};

export const loginAttempt = component(
  "LoginAttempt",
  z.discriminatedUnion("flow", [
    z.object({
      ...attempt,
      flow: z.literal("browser"),
      url: describe(z.string(), "Where the person logs in"),
      redirect_uri: describe(z.string(), "Where the browser comes back to"),
    }),
    z.object({
      ...attempt,
      flow: z.literal("device"),
      user_code: z.string(),
      verification_uri: describe(z.string(), "Where the person enters the code"),
      verification_uri_complete: describe(z.optional(z.string()), "The same, with the code filled in"),
    }),
  ]),
);
export type LoginAttempt = z.infer<typeof loginAttempt>;

export const loginCallback = z.strictObject({
  url: describe(z.string().check(z.minLength(1)), "The address at which the browser arrived after the login"),
});

export const logoutResult = component(
  "Logout",
  z.object({
    server: z.string(),
    found: describe(z.boolean(), "There was a login"),
    revoked: describe(z.boolean(), "The authorization server has revoked its tokens"),
  }),
);
export type Logout = z.infer<typeof logoutResult>;
