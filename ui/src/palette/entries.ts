// What the palette offers: pages, servers, tools, groups, secrets, clients, recent calls, and what can be done with them.

import type { CallSummary } from "$api/call.ts";
import type { Client } from "$api/client.ts";
import type { Secret } from "$api/config.ts";
import type { GroupView } from "$api/group.ts";
import type { Server } from "$api/server.ts";
import { pathTo, withQuery } from "../lib/route.ts";
import { clock } from "../lib/text/format.ts";
import type { ToolRow } from "../lib/tools/tool-index.ts";
import { router } from "../router.svelte.ts";
import { findScreen } from "../screens/index.ts";
import { ownScreens } from "../shell/own-screens.ts";
import { prefs } from "../state/prefs.svelte.ts";
import { actOrSay, removeServers } from "../state/server-actions.ts";
import { session } from "../state/session.svelte.ts";
import { toasts } from "../state/toasts.svelte.ts";
import { paletteText as text } from "../text/palette.ts";

export interface Entry {
  /** What is remembered of a choice, and the key in the list. */
  readonly id: string;
  readonly kind: keyof typeof text.kinds;
  readonly label: string;
  /** In lower case. */
  readonly search: string;
  /** Has its cable before it. */
  readonly server?: string | undefined;
  readonly run: () => void;
}

/** `also`: other words for the same. */
function entry(kind: Entry["kind"], label: string, run: () => void, { server, also = "" }: Details = {}): Entry {
  return {
    id: `${kind} ${label}`,
    kind,
    label,
    search: `${label} ${also}`.trim().toLowerCase(),
    run,
    ...(server === undefined ? {} : { server }),
  };
}

interface Details {
  readonly server?: string;
  readonly also?: string;
}

export function pageEntries(): Entry[] {
  return ownScreens()
    .filter(({ path }) => !path.includes(":"))
    .map(({ path, title }) => entry("page", title, () => router.go(path)));
}

export function settingEntries(showKeys: () => void): Entry[] {
  return [
    ...(["light", "dark", "system"] as const).map((theme) =>
      entry("action", text.verbs.theme(theme), () => prefs.setTheme(theme)),
    ),
    ...(["normal", "compact"] as const).map((density) =>
      entry("action", text.verbs.density(density), () => prefs.setDensity(density)),
    ),
    entry("action", text.verbs.keys, showKeys),
    entry("action", text.verbs.signOut, () => void session.signOut()),
  ];
}

export function serverEntries(servers: readonly Server[]): Entry[] {
  return servers.map(({ config: { name } }) =>
    entry("server", name, () => router.go(pathTo`/servers/${name}`), { server: name }),
  );
}

export function verbEntries(servers: readonly Server[]): Entry[] {
  return servers.flatMap((server) => {
    const { name, enabled } = server.config;
    const tab = (id: string) => () => router.go(withQuery(pathTo`/servers/${name}`, { tab: id }));
    const isUp = server.status === "running" || server.status === "starting";
    const switching = enabled ? "disable" : "enable";
    const of = { server: name };
    return [
      entry("action", text.verbs.restart(name), () => void actOrSay(name, "restart"), of),
      isUp
        ? entry("action", text.verbs.stop(name), () => void actOrSay(name, "stop"), of)
        : entry("action", text.verbs.start(name), () => void actOrSay(name, "start"), of),
      entry("action", text.verbs[switching](name), () => void actOrSay(name, switching), { ...of, also: switching }),
      entry("action", text.verbs.log(name), tab("log"), { ...of, also: "show" }),
      entry("action", text.verbs.edit(name), tab("config"), { ...of, also: "config" }),
      entry("action", text.verbs.remove(name), () => void removeServers([server]), { ...of, also: "delete" }),
    ];
  });
}

export function toolEntries(rows: readonly ToolRow[]): Entry[] {
  if (findScreen("/try/server/tool") === undefined) return [];
  return rows.map(({ server, tool }) => ({
    ...entry("tool", `${server} · ${tool}`, () => router.go(pathTo`/try/${server}/${tool}`), { server }),
    search: `try ${server} ${tool}`.toLowerCase(),
  }));
}

export function groupEntries(groups: readonly GroupView[]): Entry[] {
  return groups.flatMap(({ name, path }) => [
    ...(findScreen("/groups/x") === undefined ? [] : [entry("group", name, () => router.go(pathTo`/groups/${name}`))]),
    entry("action", text.verbs.copyUrl(name), () => void copyAddress(name, path), { also: "url" }),
  ]);
}

/** Their names: the values are never shown. */
export function secretEntries(secrets: readonly Pick<Secret, "name">[]): Entry[] {
  return secrets.map(({ name }) => entry("secret", name, () => router.go("/secrets")));
}

export function clientEntries(clients: readonly Pick<Client, "id" | "title">[]): Entry[] {
  return clients.map(({ id, title }) => entry("client", title, () => router.go("/clients"), { also: id }));
}

export function callEntries(calls: readonly CallSummary[]): Entry[] {
  return calls.map(({ id, server_name: server, tool_name: tool, timestamp, client }) => ({
    ...entry(
      "call",
      text.call(server, tool, clock(Date.parse(timestamp))),
      () => router.go(withQuery("/calls", { id: String(id) })),
      { server, also: client ?? "" },
    ),
    // Two calls of a tool in one second have the same label.
    id: `call ${id}`,
  }));
}

async function copyAddress(name: string, path: string): Promise<void> {
  await navigator.clipboard.writeText(new URL(`..${path}`, document.baseURI).href);
  toasts.show(text.copied(name));
}
