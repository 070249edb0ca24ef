// The people who have signed in, in identity.db.

import type { StoredUser, UserStore } from "../auth/user-store.ts";
import type { IdentityFile } from "./identity-file.ts";
import { toUser } from "./rows.ts";

const COLUMNS = `id, issuer, subject, email, email_verified, name, given_role, claimed_role, claimed_teams, created_at, seen_at,
  disabled_at`;

export class SqliteUsers implements UserStore {
  readonly #file: IdentityFile;
  /** Of the file, when users were listed last. */
  #version = 0;

  constructor(file: IdentityFile) {
    this.#file = file;
  }

  list(): Promise<readonly StoredUser[]> {
    return this.#file.run((db) => {
      this.#version = this.#file.version;
      return db.all(`SELECT ${COLUMNS} FROM user ORDER BY created_at, id`).map(toUser);
    });
  }

  save(
    { issuer, subject }: Pick<StoredUser, "issuer" | "subject">,
    change: (known: StoredUser | undefined) => StoredUser,
  ): Promise<StoredUser> {
    return this.#file.run((db) =>
      db.transact(() => {
        const row = db.get(`SELECT ${COLUMNS} FROM user WHERE issuer = ? AND subject = ?`, issuer, subject);
        const user = change(row === undefined ? undefined : toUser(row));
        db.run(
          `INSERT INTO user (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT (id) DO UPDATE SET email = excluded.email, email_verified = excluded.email_verified,
            name = excluded.name, given_role = excluded.given_role, claimed_role = excluded.claimed_role,
            claimed_teams = excluded.claimed_teams, seen_at = excluded.seen_at, disabled_at = excluded.disabled_at`,
          user.id,
          user.issuer,
          user.subject,
          user.email ?? null,
          Number(user.emailVerified),
          user.name ?? null,
          user.givenRole ?? null,
          user.claimedRole ?? null,
          JSON.stringify(user.claimedTeams),
          user.createdAt,
          user.seenAt,
          user.disabledAt ?? null,
        );
        return user;
      }),
    );
  }

  remove(id: string): Promise<boolean> {
    return this.#file.run((db) => db.run("DELETE FROM user WHERE id = ?", id) > 0);
  }

  watch(onChange: () => void): () => void {
    return this.#file.watch(() => this.#version, onChange);
  }
}
