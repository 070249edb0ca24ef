// The port behind which logins at remote servers are kept: their tokens and the client that they belong to.

import * as z from "zod/mini";

/** Whose login at which server. */
export interface LoginKey {
  /** The id of the server's entry. */
  readonly server: string;
  readonly principal: string;
}

const jwk = z.record(z.string(), z.unknown());

const clientSchema = z.strictObject({
  id: z.string(),
  secret: z.exactOptional(z.string()),
  method: z.enum(["none", "client_secret_basic", "client_secret_post", "private_key_jwt"]),
  how: z.enum(["configured", "metadata_document", "registered"]),
  issuer: z.string(),
  redirectUri: z.exactOptional(z.string()),
  /** In milliseconds since 1970. */
  secretExpiresAt: z.exactOptional(z.number()),
  management: z.exactOptional(z.strictObject({ uri: z.string(), token: z.string() })),
});

export const loginRecordSchema = z.strictObject({
  v: z.literal(1),
  server: z.string(),
  principal: z.string(),
  /** The server's address when the login was made. A login is never used for another address. */
  url: z.string(),
  issuer: z.string(),
  resource: z.exactOptional(z.string()),
  /** The URL of the metadata, if the server has sent it. */
  resourceMetadata: z.exactOptional(z.string()),
  client: clientSchema,
  access: z.string(),
  type: z.enum(["Bearer", "DPoP"]),
  /** In milliseconds since 1970. */
  receivedAt: z.number(),
  /** In seconds. Absent: unknown. */
  expiresIn: z.exactOptional(z.number()),
  refresh: z.exactOptional(z.string()),
  scope: z.exactOptional(z.string()),
  /** All scopes that were ever requested. A step-up adds to them. */
  requested: z.array(z.string()),
  dpop: z.exactOptional(z.strictObject({ privateJwk: jwk, publicJwk: jwk })),
  account: z.exactOptional(z.string()),
  /** Incremented by every renewal and login, so that processes notice that another one was faster. */
  generation: z.number(),
  /** When a renewal was sent whose outcome is unknown. */
  sentAt: z.exactOptional(z.number()),
  /** The refresh token before the current one. */
  previous: z.exactOptional(z.string()),
  /** Why it cannot be renewed any more: the error code of the authorization server. */
  ended: z.exactOptional(z.string()),
});

export type LoginRecord = z.infer<typeof loginRecordSchema>;

/** Access to one record while no other process can change it. */
export interface LoginSlot {
  read(): Promise<LoginRecord | undefined>;
  /** On disk when it resolves. */
  write(record: LoginRecord): Promise<void>;
  delete(): Promise<void>;
}

/** Methods throw HubError if the store fails. */
export interface LoginStore {
  /** Who has a login at the server, sorted. Reads no token. */
  principals(server: string): Promise<string[]>;
  /** Without a lock: writes are atomic. */
  read(key: LoginKey): Promise<LoginRecord | undefined>;
  /** Runs `edit` while no other process or caller can change the record. Rejects with Locked after 20 s of waiting. */
  edit<T>(key: LoginKey, edit: (slot: LoginSlot) => Promise<T>): Promise<T>;
}
