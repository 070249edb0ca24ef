// The tables of who may use the hub, for copying them between SQLite and PostgreSQL: the same columns in both.

type ColumnType = "text" | "number" | "boolean";

export interface IdentityTable {
  readonly sqlite: string;
  readonly postgres: string;
  readonly columns: Readonly<Record<string, ColumnType>>;
}

export const IDENTITY_TABLES: readonly IdentityTable[] = [
  {
    sqlite: "token",
    postgres: "plugboard.token",
    columns: {
      id: "text",
      digest: "text",
      start: "text",
      name: "text",
      principal: "text",
      role: "text",
      groups: "text",
      read_only: "boolean",
      created_at: "number",
      created_by: "text",
      expires_at: "number",
      used_at: "number",
      used_from: "text",
      revoked_at: "number",
      revoked_by: "text",
      login: "text",
      client: "text",
    },
  },
  {
    sqlite: "user",
    postgres: "plugboard.person",
    columns: {
      id: "text",
      issuer: "text",
      subject: "text",
      email: "text",
      email_verified: "boolean",
      name: "text",
      given_role: "text",
      claimed_role: "text",
      claimed_teams: "text",
      created_at: "number",
      seen_at: "number",
      disabled_at: "number",
    },
  },
  {
    sqlite: "audit",
    postgres: "plugboard.audit",
    columns: {
      n: "number",
      at: "number",
      principal: "text",
      role: "text",
      token: "text",
      client: "text",
      address: "text",
      action: "text",
      object: "text",
      outcome: "text",
      detail: "text",
      request_id: "text",
      hash: "text",
    },
  },
  {
    sqlite: "oauth_client",
    postgres: "plugboard.oauth_client",
    columns: { id: "text", metadata: "text", created_at: "number", created_from: "text", used_at: "number" },
  },
  {
    sqlite: "oauth_login",
    postgres: "plugboard.oauth_login",
    columns: {
      id: "text",
      client: "text",
      client_name: "text",
      redirect_host: "text",
      principal: "text",
      groups: "text",
      read_only: "boolean",
      created_at: "number",
      expires_at: "number",
      used_at: "number",
      revoked_at: "number",
      revoked_by: "text",
      payload: "text",
    },
  },
  {
    sqlite: "oauth_refresh_token",
    postgres: "plugboard.oauth_refresh_token",
    columns: { digest: "text", login: "text", payload: "text", expires_at: "number", used_at: "number" },
  },
];

/** A value of either database as that of SQLite or PostgreSQL. */
export function toColumn(
  value: unknown,
  type: ColumnType,
  target: "sqlite" | "postgres",
): string | number | boolean | null {
  if (value === null || value === undefined) return null;
  if (type === "number") return Number(value);
  if (type === "text") return typeof value === "string" ? value : "";
  const isTrue = value === true || value === 1;
  return target === "sqlite" ? Number(isTrue) : isTrue;
}
