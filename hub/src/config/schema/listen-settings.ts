// The part of `hub.json` about the network: where the hub listens, and the address at which others reach it.

import * as z from "zod/mini";
import { isRange } from "../../lib/address-range.ts";
import { originOf } from "../../lib/origin.ts";
import * as limits from "./limits.ts";
import * as rule from "./text.ts";

const address = (what: string) => rule.text(what, { max: limits.URL_MAX, oneLine: true });

const file = (what: string) => rule.text(what, { max: limits.PATH_MAX, oneLine: true });

const range = z
  .string()
  .check(z.refine(isRange, "trusted_proxies must list addresses or CIDR ranges, as 10.0.0.2 or 10.0.0.0/24"));

const origin = z
  .string()
  .check(z.refine((text) => originOf(text) !== undefined, "an origin is as https://app.example.com, without a path"));

const publicUrl = z
  .string()
  .check(
    z.refine(
      (text) => originOf(text) !== undefined,
      "public_url must be http:// or https:// with a host and no path, as https://hub.example.com",
    ),
  );

export const listenSettings = {
  listen: z.optional(
    z.strictObject({
      host: z.optional(address("listen.host")),
      port: z.optional(
        z
          .number({ error: "listen.port must be a number" })
          .check(z.int(), z.gte(0), z.lte(limits.PORT_MAX, `listen.port must be at most ${limits.PORT_MAX}`)),
      ),
      /** The hub is managed at an address of this machine only. */
      admin: z.optional(z.literal("loopback", { error: 'listen.admin must be "loopback", or not set' })),
    }),
  ),
  /** The origin under which clients reach the hub. Addresses in answers are made from it, never from a request. */
  public_url: z.optional(publicUrl),
  /** Further values of the header Host. */
  allowed_hosts: z.optional(z.array(address("allowed_hosts"))),
  /** Origins whose pages may use the hub, with credentials of their own. */
  allowed_origins: z.optional(z.array(origin)),
  /** Strict: a misspelled key would leave the hub without TLS. */
  tls: z.optional(z.strictObject({ cert: file("tls.cert"), key: file("tls.key") })),
  /** Proxies whose X-Forwarded-For counts, as addresses or CIDR ranges. */
  trusted_proxies: z.optional(z.array(range)),
};
