// Port: where the people who have signed in are kept. Implemented by identity/sqlite-users.ts.

import type { Role } from "./grant.ts";

export interface StoredUser {
  readonly id: string;
  /** Who vouches for them, and the name by which that issuer knows them: together unique. */
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly name: string | undefined;
  /** Given by an administrator of the hub; undefined: none was given. */
  readonly givenRole: Role | undefined;
  /** As the issuer said last. */
  readonly claimedRole: Role | undefined;
  readonly claimedTeams: readonly string[];
  /** Times are milliseconds since the epoch. */
  readonly createdAt: number;
  readonly seenAt: number;
  readonly disabledAt: number | undefined;
}

export interface UserStore {
  /** Oldest first. */
  list(): Promise<readonly StoredUser[]>;
  /**
   * Changes the user of this issuer and subject, or adds one, in one step: `change` gets the user as it is stored now. Returns what
   * was saved.
   */
  save(
    key: Pick<StoredUser, "issuer" | "subject">,
    change: (known: StoredUser | undefined) => StoredUser,
  ): Promise<StoredUser>;
  /** Returns false if there is none. */
  remove(id: string): Promise<boolean>;
  /** Calls `onChange` until users are listed again after another process has changed them. Returns how to stop that. */
  watch(onChange: () => void): () => void;
}
