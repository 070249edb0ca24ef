// Port: where access tokens are kept. Implemented by identity/sqlite-tokens.ts.

import type { Role } from "./grant.ts";

export interface StoredToken {
  readonly id: string;
  /** SHA-256 of the token, in base64: the token itself is kept nowhere. */
  readonly digest: string;
  /** The first characters of the token. */
  readonly start: string;
  readonly name: string;
  readonly principal: string;
  readonly role: Role;
  readonly groups: "*" | readonly string[];
  readonly readOnly: boolean;
  /** Times are milliseconds since the epoch. */
  readonly createdAt: number;
  readonly createdBy: string;
  /** Undefined: never. */
  readonly expiresAt: number | undefined;
  readonly usedAt: number | undefined;
  /** The address of the last use. */
  readonly usedFrom: string | undefined;
  /** Of a token that the embedded authorization server issued. */
  readonly issued?: IssuedTo | undefined;
}

export interface IssuedTo {
  /** The login that it belongs to: all its tokens end together. */
  readonly login: string;
  /** The OAuth client id. */
  readonly client: string;
}

export interface TokenUse {
  readonly id: string;
  readonly at: number;
  readonly from: string | undefined;
}

export interface TokenStore {
  /** Tokens that are not revoked, oldest first. */
  list(): Promise<readonly StoredToken[]>;
  /** Throws Conflict if there is one of this name, unless it was issued. */
  add(token: StoredToken): Promise<void>;
  /** Returns false if there is none. */
  revoke(id: string, by: string): Promise<boolean>;
  used(uses: readonly TokenUse[]): Promise<void>;
  /** Calls `onChange` until tokens are listed again after another process has changed them. Returns how to stop that. */
  watch(onChange: () => void): () => void;
}
