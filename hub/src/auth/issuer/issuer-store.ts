// Port: where the authorization server keeps what outlives the process: its clients, and the logins of people with their refresh
// tokens. Access tokens are beside those that people make. Implemented by identity/sqlite-issuer.ts.

/** More clients than these that were never used for a login are not kept. */
export const MAX_UNUSED_CLIENTS = 500;

/** A client that has registered itself, or that an administrator has added. */
export interface StoredClient {
  readonly id: string;
  /** As registered, with a digest in place of the secret. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Times are milliseconds since the epoch. */
  readonly createdAt: number;
  /** The address that it was registered from; none: an administrator has added it. */
  readonly createdFrom: string;
  readonly usedAt: number | undefined;
}

/** What a person has consented to, or an administrator for a program: one client, acting for one principal, in some groups. */
export interface ClientLogin {
  readonly id: string;
  /** The OAuth client id. */
  readonly client: string;
  /** The name that the client gives itself. */
  readonly clientName: string;
  /** Where the client received its code; none: it has credentials of its own. */
  readonly redirectHost: string;
  readonly principal: string;
  readonly groups: readonly string[];
  readonly readOnly: boolean;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** When it last got a token. */
  readonly usedAt: number | undefined;
}

/** A record of the protocol library. */
export type Payload = Readonly<Record<string, unknown>>;

export interface StoredRefreshToken {
  readonly payload: Payload;
  /** Of its first use. */
  readonly usedAt: number | undefined;
}

export interface IssuerStore {
  findClient(id: string): Promise<StoredClient | undefined>;
  /** Drops clients that are no longer used, and the oldest of those that never were above the limit. */
  addClient(client: StoredClient, maxUnused: number): Promise<void>;

  addLogin(login: ClientLogin): Promise<void>;
  /** One that is valid. */
  findLogin(id: string): Promise<{ readonly login: ClientLogin; readonly payload: Payload | undefined } | undefined>;
  keepPayload(id: string, payload: Payload): Promise<void>;
  /** It got a token. */
  usedLogin(id: string): Promise<void>;
  /** Those that are valid, oldest first. */
  listLogins(): Promise<readonly ClientLogin[]>;
  /** Returns false if there is none. Its refresh tokens end with it. */
  revokeLogin(id: string, by: string): Promise<boolean>;

  addRefreshToken(digest: string, login: string, payload: Payload, expiresAt: number): Promise<void>;
  findRefreshToken(digest: string): Promise<StoredRefreshToken | undefined>;
  useRefreshToken(digest: string): Promise<void>;
  removeRefreshToken(digest: string): Promise<void>;
  removeRefreshTokensOf(login: string): Promise<void>;
}
