// Rows of both databases as the types of the ports.

import { parseJson } from "@plugboard/shared/lenient";
import { isRole } from "../auth/grant.ts";
import type { ClientLogin, Payload, StoredClient } from "../auth/issuer/issuer-store.ts";
import type { StoredToken } from "../auth/token-store.ts";
import type { StoredUser } from "../auth/user-store.ts";
import { HubError } from "../errors.ts";
import { numberOrNothing, text, textList, textOrNothing, type Row } from "./columns.ts";

const DAY_MS = 86_400_000;
/** A client without a login is forgotten after a day, another one half a year after its last use. */
export const CLIENT_UNUSED_MS = DAY_MS;
export const CLIENT_IDLE_MS = 180 * DAY_MS;

export function tokenNameTaken(name: string): HubError {
  return new HubError("Conflict", `There is already a token ${JSON.stringify(name)}`, {
    field: "name",
    hint: `Choose another name, or revoke it first: plugboard token rm '${name}'`,
  });
}

/** A row that makes no sense gives no rights. */
export function toToken(row: Row): StoredToken {
  const { role, read_only: readOnly, login, client } = row;
  return {
    ...(login === null ? {} : { issued: { login: text(login), client: text(client) } }),
    id: text(row["id"]),
    digest: text(row["digest"]),
    start: text(row["start"]),
    name: text(row["name"]),
    principal: text(row["principal"]),
    role: isRole(role) ? role : "user",
    groups: groupsOf(row["groups"]),
    readOnly: isNotFalse(readOnly),
    createdAt: Number(row["created_at"]),
    createdBy: text(row["created_by"]),
    expiresAt: numberOrNothing(row["expires_at"]),
    usedAt: numberOrNothing(row["used_at"]),
    usedFrom: textOrNothing(row["used_from"]),
  };
}

/** SQLite has numbers in place of booleans. */
function isNotFalse(column: unknown): boolean {
  return column !== 0 && column !== false;
}

function groupsOf(column: unknown): StoredToken["groups"] {
  return parseJson(text(column)) === "*" ? "*" : textList(column);
}

export function toUser(row: Row): StoredUser {
  const { given_role: givenRole, claimed_role: claimedRole } = row;
  return {
    id: text(row["id"]),
    issuer: text(row["issuer"]),
    subject: text(row["subject"]),
    email: textOrNothing(row["email"]),
    emailVerified: row["email_verified"] === 1 || row["email_verified"] === true,
    name: textOrNothing(row["name"]),
    givenRole: isRole(givenRole) ? givenRole : undefined,
    claimedRole: isRole(claimedRole) ? claimedRole : undefined,
    claimedTeams: textList(row["claimed_teams"]),
    createdAt: Number(row["created_at"]),
    seenAt: Number(row["seen_at"]),
    disabledAt: numberOrNothing(row["disabled_at"]),
  };
}

export function toClient(row: Row): StoredClient {
  return {
    id: text(row["id"]),
    metadata: toPayload(row["metadata"]),
    createdAt: Number(row["created_at"]),
    createdFrom: text(row["created_from"]),
    usedAt: numberOrNothing(row["used_at"]),
  };
}

export function toLogin(row: Row): ClientLogin {
  return {
    id: text(row["id"]),
    client: text(row["client"]),
    clientName: text(row["client_name"]),
    redirectHost: text(row["redirect_host"]),
    principal: text(row["principal"]),
    groups: textList(row["groups"]),
    readOnly: isNotFalse(row["read_only"]),
    createdAt: Number(row["created_at"]),
    expiresAt: Number(row["expires_at"]),
    usedAt: numberOrNothing(row["used_at"]),
  };
}

export function toPayload(column: unknown): Payload {
  const value = parseJson(text(column));
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
