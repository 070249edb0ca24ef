// All screens. The navigation and the palette are made from this list, so that nothing leads to a screen that does not exist.

import type { Component } from "svelte";
import { matchPath, type Params } from "../lib/route.ts";
import type { Role } from "../lib/hub/role.ts";

export interface ScreenProps {
  readonly params: Params;
}

export interface Screen {
  /** With parameters: "/servers/:name". */
  readonly path: string;
  /** In the navigation, the palette and the title of the window. */
  readonly title: string;
  /** A screen may take ScreenProps, or nothing. */
  readonly load: () => Promise<{ readonly default: Component<never> }>;
  /** Where its link is: in the bar before or after the line, or in the menu; nowhere if it is part of another screen. */
  readonly place?: "bar" | "bar-2" | "more";
  /** With `g` before it. */
  readonly key?: string;
  /** Who may use what it shows; by default administrators. */
  readonly role?: Role;
  /** Only they find it in the navigation: others have a screen with more. */
  readonly listedFor?: Role;
  /** The path of the screen in the bar that it belongs to. */
  readonly parent?: string;
}

/** In the order of the navigation. */
export const screens: readonly Screen[] = [
  {
    path: "/",
    title: "Overview",
    place: "bar",
    key: "o",
    role: "operator",
    load: () => import("./overview/Overview.svelte"),
  },
  {
    path: "/servers",
    title: "Servers",
    place: "bar",
    key: "s",
    role: "operator",
    load: () => import("./servers/Servers.svelte"),
  },
  {
    path: "/servers/:name",
    title: "Server",
    parent: "/servers",
    role: "operator",
    load: () => import("./server/ServerPage.svelte"),
  },
  {
    path: "/tools",
    title: "Tools",
    place: "bar",
    key: "t",
    role: "operator",
    load: () => import("./tools/Tools.svelte"),
  },
  { path: "/try/:server/:tool", title: "Try a tool", parent: "/tools", load: () => import("./tools/Tools.svelte") },
  {
    path: "/groups",
    title: "Groups",
    place: "bar",
    key: "g",
    role: "operator",
    load: () => import("./groups/Groups.svelte"),
  },
  {
    path: "/groups/:name",
    title: "Group",
    parent: "/groups",
    role: "operator",
    load: () => import("./groups/Group.svelte"),
  },
  {
    path: "/my-groups",
    title: "My groups",
    place: "bar",
    role: "user",
    listedFor: "user",
    load: () => import("./my-groups/MyGroups.svelte"),
  },
  {
    path: "/calls",
    title: "Calls",
    place: "bar",
    key: "c",
    role: "user",
    load: () => import("./calls/Calls.svelte"),
  },
  {
    path: "/stats",
    title: "Stats",
    place: "bar",
    key: "m",
    role: "operator",
    load: () => import("./stats/Stats.svelte"),
  },
  { path: "/clients", title: "Clients", place: "bar-2", key: "n", load: () => import("./clients/Clients.svelte") },
  { path: "/access", title: "Access", place: "bar-2", role: "user", load: () => import("./access/Access.svelte") },
  {
    path: "/connections",
    title: "My connections",
    place: "more",
    role: "user",
    load: () => import("./connections/Connections.svelte"),
  },
  { path: "/audit", title: "Audit", place: "more", parent: "/access", load: () => import("./audit/Audit.svelte") },
  { path: "/secrets", title: "Secrets", place: "bar-2", key: "x", load: () => import("./secrets/Secrets.svelte") },
  { path: "/add", title: "Add server", place: "more", load: () => import("./add/Add.svelte") },
  { path: "/registry", title: "Registry", place: "more", load: () => import("./registry/Registry.svelte") },
  {
    path: "/registry/:name",
    title: "Server of a registry",
    parent: "/registry",
    load: () => import("./registry/RegistryServer.svelte"),
  },
  { path: "/welcome", title: "Welcome", load: () => import("./welcome/Welcome.svelte") },
  { path: "/chats", title: "Chats", place: "more", load: () => import("./chats/Chats.svelte") },
  { path: "/logs", title: "Logs", place: "more", role: "operator", load: () => import("./logs/Logs.svelte") },
  { path: "/health", title: "Health", place: "more", role: "operator", load: () => import("./health/Health.svelte") },
  { path: "/settings", title: "Settings", place: "more", load: () => import("./settings/Settings.svelte") },
];

export function findScreen(path: string): { readonly screen: Screen; readonly params: Params } | undefined {
  for (const screen of screens) {
    const params = matchPath(screen.path, path);
    if (params !== undefined) return { screen, params };
  }
  return undefined;
}
