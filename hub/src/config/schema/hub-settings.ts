// Where the hub is reached and who may use it: `hub.json`. Read once, at the start: a hub whose access changes while it runs is hard to reason about.

import * as z from "zod/mini";
import { count } from "./call-limits.ts";
import { issuerEntries } from "./issuer.ts";
import { listenSettings } from "./listen-settings.ts";
import { registrySettings } from "./registries.ts";
import { sso } from "./sso.ts";

const memberName = z
  .string()
  .check(z.regex(/^\S{1,256}$/, "a member is an email address, user:<id> or service:<name>"));
const teamName = z.string().check(z.regex(/^[^\s*:]{1,64}$/, "the name of a team has no spaces, * or :"));

const hostName = z
  .string()
  .check(
    z.regex(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/, "a host is a name in lower case, without scheme and port"),
  );

const rate = z.number().check(z.gte(0.1), z.lte(100_000));

/** Strict: an unknown key is a typing error, and a rule that does not apply is a hole. */
export const hubSettingsEntry = z.strictObject({
  $schema: z.optional(z.string()),
  ...listenSettings,
  /** PostgreSQL, where the replicas of a hub keep everything. The URL may be in PLUGBOARD_DATABASE_URL instead. */
  database: z.optional(
    z.strictObject({
      url: z.optional(z.string()),
      /** Past a connection pooler: for the one connection that listens and holds locks. Default: `url`. */
      direct_url: z.optional(z.string()),
      /** What a call waits for before it is answered: that it is in the database, or in the journal of this hub. */
      durability: z.optional(z.enum(["shared", "local"], { error: 'durability must be "shared" or "local"' })),
    }),
  ),
  cluster: z.optional(
    z.strictObject({
      /** Of this hub: no other hub of the cluster has it. Default: the name of the host. */
      name: z.optional(
        z.string().check(z.regex(/^[a-z0-9]{1,32}$/, "the name of a hub has 1 to 32 lower case letters and digits")),
      ),
      /** Where the other hubs reach this one, as 10.0.0.1:7431. Default: a free port of this machine. */
      listen: z.optional(z.string()),
      /** The address for the other hubs, if it is not that of `listen`. */
      url: z.optional(z.string()),
      /** PEM files. `ca`: who has signed the certificates of the other hubs. */
      tls: z.optional(z.strictObject({ cert: z.string(), key: z.string(), ca: z.optional(z.string()) })),
      /** Allows `listen` beyond this machine without TLS. */
      trust_network: z.optional(z.boolean()),
    }),
  ),
  ...registrySettings,
  auth: z.optional(
    z.strictObject({
      /** Whether the MCP endpoints need credentials. */
      mcp: z.optional(z.enum(["open", "required"], { error: 'mcp must be "open" or "required"' })),
      /** Who may use a group that does not say so: everyone whose credentials are valid, or administrators only. */
      default_access: z.optional(z.enum(["all", "none"], { error: 'default_access must be "all" or "none"' })),
      /** Identity providers whose tokens are accepted. */
      issuers: z.optional(issuerEntries),
      /** Users with the role admin, by verified email address or as `user:<id>`. */
      admins: z.optional(z.array(memberName)),
      /** Teams and their members, beside those that issuers name. */
      teams: z.optional(z.record(teamName, z.array(memberName))),
      /** The embedded authorization server: OAuth clients log in at the hub itself. */
      server: z.optional(
        z.strictObject({
          enabled: z.boolean(),
          /** Whether clients may register themselves. Default: true. */
          registration: z.optional(z.boolean()),
          /** Whether the id of a client may be the address of a document about it: of any host, or of these. Default: true. */
          client_documents: z.optional(z.union([z.boolean(), z.array(hostName)])),
        }),
      ),
      /** At the MCP endpoints, of each caller with credentials, if nothing else is said. */
      limits: z.optional(
        z.strictObject({
          requests_per_second: z.optional(rate),
          requests_burst: z.optional(count),
          max_requests: z.optional(count),
          /** Of one address, whoever its callers are. Default: no limit. */
          address_requests_per_second: z.optional(rate),
          address_requests_burst: z.optional(count),
          /** Of one address, by identity providers. */
          sign_ins_per_minute: z.optional(count),
          /** Logins at servers that one person or program begins. */
          server_logins_per_minute: z.optional(count),
        }),
      ),
      /** Identity providers by which people sign in to the web interface. */
      sso: z.optional(sso),
    }),
  ),
});

export type HubSettingsEntry = z.infer<typeof hubSettingsEntry>;
