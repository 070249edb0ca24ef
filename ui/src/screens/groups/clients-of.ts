// Which clients use a group: those that are connected, and those that have it in their files.

import type { Client } from "$api/client.ts";
import type { Session } from "$api/session.ts";
import { api } from "../../lib/hub/api.ts";
import { session } from "../../state/session.svelte.ts";

export interface GroupUser {
  readonly group: string;
  readonly client: string;
}

/** What cannot be read is left out: it is additional information. */
export async function groupUsers(): Promise<GroupUser[]> {
  const [sessions, files] = await Promise.all([
    api.get<Session[]>("/sessions").catch(() => []),
    session.may("admin") ? api.get<Client[]>("/clients").catch(() => []) : [],
  ]);
  const users = [
    ...sessions.flatMap(({ client, group }) => (client === null ? [] : [{ group, client: client.name }])),
    ...files.flatMap(({ title, hub }) => (hub === null ? [] : [{ group: hub.group, client: title }])),
  ];
  const seen = new Map(users.map((user) => [`${user.group}\n${user.client}`, user]));
  return [...seen.values()];
}

export async function clientsOf(group: string): Promise<string[]> {
  return (await groupUsers()).filter((user) => user.group === group).map(({ client }) => client);
}
