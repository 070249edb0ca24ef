// The screens that are of use to whoever is signed in. The hub refuses the rest by itself.

import { screens, type Screen } from "../screens/index.ts";
import { session } from "../state/session.svelte.ts";

export function mayOpen({ role = "admin" }: Pick<Screen, "role">): boolean {
  return session.may(role);
}

/** Those that the navigation lists. */
export function ownScreens(): Screen[] {
  return screens.filter((screen) => mayOpen(screen) && (screen.listedFor ?? session.who?.role) === session.who?.role);
}
