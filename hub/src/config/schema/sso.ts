// Sign-in of people in the browser by an identity provider: `auth.sso` of hub.json.

import * as z from "zod/mini";
import * as rule from "./text.ts";

const HTTP_HERE = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:\/|$)/;

const issuer = z.string().check(
  z.refine(
    (text) => URL.canParse(text) && (new URL(text).protocol === "https:" || HTTP_HERE.test(text)),
    "issuer must be an https:// address, as the provider's metadata names it",
  ),
  z.refine((text) => !/[?#]/.test(text), "issuer must have no query and no fragment"),
);

const clientSecret = z.strictObject(
  { secretRef: rule.secretName },
  {
    error: 'client_secret must name a stored secret: {"secretRef": "NAME"}; store it with `plugboard secret set NAME`',
  },
);

const claimName = z.string().check(z.minLength(1), z.maxLength(128));
const domain = z
  .string()
  .check(z.regex(/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i, 'a domain of email addresses, such as "example.com"'));
const claimValue = z.union([z.string(), z.number(), z.boolean()]);

const provider = z.strictObject({
  /** People read it on the button. */
  name: z
    .string()
    .check(z.regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,39}$/u, "name must be 1 to 40 letters, digits, spaces, . _ or -")),
  issuer,
  client_id: z.string().check(z.minLength(1), z.maxLength(512)),
  client_secret: z.optional(clientSecret),
  /** Beside `openid`, which is always asked for. */
  scopes: z.optional(
    z.array(z.string().check(z.regex(/^[!#-[\]-~]+$/, "a scope has no spaces, quotes or backslashes"))),
  ),
  /** The claim with the person's teams; `map` renames them, and then drops all others. */
  teams: z.optional(z.strictObject({ claim: claimName, map: z.optional(z.record(z.string(), z.string())) })),
  /** The claim that decides about the role: the highest one of its values counts. */
  roles: z.optional(
    z.strictObject({ claim: claimName, map: z.record(z.string(), z.enum(["user", "operator", "admin"])) }),
  ),
  /** Only people with a verified address of these domains. */
  allowed_domains: z.optional(z.array(domain).check(z.minLength(1, "allowed_domains must not be empty"))),
  /** Only people whose claims have these values, or one of them. */
  required_claims: z.optional(z.record(claimName, z.union([claimValue, z.array(claimValue).check(z.minLength(1))]))),
  /** Signing out of the hub also signs out at the provider. */
  end_session: z.optional(z.boolean()),
});

export const sso = z
  .array(provider)
  .check(
    z.refine(
      (all) => new Set(all.map(({ name }) => name.toLowerCase())).size === all.length,
      "two identity providers have the same name",
    ),
  );

export type SsoProvider = z.infer<typeof provider>;
