// The people who have signed in, in PostgreSQL.

import type { StoredUser, UserStore } from "../auth/user-store.ts";
import { toUser } from "../identity/rows.ts";
import type { Changes } from "./changes.ts";
import type { Database } from "./database.ts";

const COLUMNS = `id, issuer, subject, email, email_verified, name, given_role, claimed_role, claimed_teams, created_at, seen_at,
  disabled_at`;

export class PgUsers implements UserStore {
  readonly #db: Database;
  readonly #changes: Changes;
  /** When users were listed last. */
  #version = 0;

  constructor(db: Database, changes: Changes) {
    this.#db = db;
    this.#changes = changes;
  }

  async list(): Promise<readonly StoredUser[]> {
    // First: what changes meanwhile is listed again.
    const version = await this.#db.versionOf("identity");
    const rows = await this.#db.rows(`select ${COLUMNS} from plugboard.person order by created_at, id`);
    this.#version = version;
    return rows.map(toUser);
  }

  save(
    { issuer, subject }: Pick<StoredUser, "issuer" | "subject">,
    change: (known: StoredUser | undefined) => StoredUser,
  ): Promise<StoredUser> {
    return this.#db.change("identity", async (sql) => {
      const [row] = await sql.rows(
        `select ${COLUMNS} from plugboard.person where issuer = $1 and subject = $2`,
        issuer,
        subject,
      );
      const user = change(row === undefined ? undefined : toUser(row));
      await sql.run(
        `insert into plugboard.person (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
          on conflict (id) do update set email = excluded.email, email_verified = excluded.email_verified,
            name = excluded.name, given_role = excluded.given_role, claimed_role = excluded.claimed_role,
            claimed_teams = excluded.claimed_teams, seen_at = excluded.seen_at, disabled_at = excluded.disabled_at`,
        user.id,
        user.issuer,
        user.subject,
        user.email ?? null,
        user.emailVerified,
        user.name ?? null,
        user.givenRole ?? null,
        user.claimedRole ?? null,
        JSON.stringify(user.claimedTeams),
        user.createdAt,
        user.seenAt,
        user.disabledAt ?? null,
      );
      return user;
    });
  }

  remove(id: string): Promise<boolean> {
    return this.#db.change(
      "identity",
      async (sql) => (await sql.run("delete from plugboard.person where id = $1", id)) > 0,
    );
  }

  watch(onChange: () => void): () => void {
    return this.#changes.watch("identity", { isCurrent: (version) => version === this.#version, onChange });
  }
}
