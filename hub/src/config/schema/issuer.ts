// An identity provider whose tokens the hub accepts: an entry of `auth.issuers` in `hub.json`. config/parse/issuers.ts completes it.

import * as z from "zod/mini";
import { ALGORITHMS, secretEntry } from "./auth.ts";
import * as limits from "./limits.ts";
import * as rule from "./text.ts";

const line = (what: string) =>
  rule.text(what, { max: limits.URL_MAX, oneLine: true }).check(z.minLength(1, `${what} is empty`));

const oneOf = <const T extends readonly string[]>(what: string, values: T) =>
  z.enum(values, { error: `${what} must be ${values.map((value) => `"${value}"`).join(", ")}` });

const claim = line("The name of a claim");

/** One value, or several. */
const oneOrMore = <T extends z.ZodMiniType>(value: T) => z.union([value, z.array(value)]);

const claimRule = <T extends z.ZodMiniType>(value: T) =>
  z.strictObject({ claim, map: z.optional(z.record(z.string(), oneOrMore(value))) });

const role = oneOf("A role", ["user", "operator", "admin"]);
const scope = oneOf("A scope", ["mcp:read", "mcp", "hub:operate", "hub:admin"]);

const issuerEntry = z.strictObject({
  issuer: line("issuer"),
  audience: z.optional(
    z
      .array(line("audience"))
      .check(z.minLength(1, "audience is empty: leave it out to accept the addresses of groups only")),
  ),
  jwks_uri: z.optional(line("jwks_uri")),
  algorithms: z.optional(
    z.array(oneOf("algorithms", ALGORITHMS)).check(z.minLength(1, "algorithms is empty: leave it out for all of them")),
  ),
  principal: z.optional(claim),
  roles: z.optional(claimRule(role)),
  teams: z.optional(claimRule(line("A team"))),
  groups: z.optional(claimRule(line("A group"))),
  scopes: z.optional(
    z.strictObject({
      map: z.optional(z.record(z.string(), oneOrMore(scope))),
      default: z.optional(z.array(scope)),
    }),
  ),
  required_claims: z.optional(
    z.union([z.array(claim), z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))], {
      error: "required_claims must be a list of claims, or an object with the value of each",
    }),
  ),
  recheck: z.optional(
    z
      .int()
      .check(z.gte(1, "recheck must be at least 1 second"), z.lte(86_400, "recheck must be at most 86400 seconds")),
  ),
  introspection: z.optional(
    z.strictObject({
      endpoint: z.optional(line("introspection.endpoint")),
      client_id: line("introspection.client_id"),
      client_secret: secretEntry,
    }),
  ),
  allow_private: z.optional(z.boolean()),
});

export const issuerEntries = z.array(issuerEntry);
export type IssuerEntry = z.infer<typeof issuerEntry>;
