// Whether this browser is signed in, and who it is. The key of a sign-in is in the fragment of the address, which is never sent
// anywhere.

import type { UiSession, UiSignedIn, UiSignedOut, UiSignInBegun } from "$api/ui.ts";
import { includesRole, type Role } from "../lib/hub/role.ts";
import { api, Problem } from "../lib/hub/api.ts";
import { live } from "./live.svelte.ts";

type SessionState = "unknown" | "in" | "out";

/** Who is signed in. `user`: undefined for the owner of the hub. */
interface Who {
  readonly user?: string | undefined;
  readonly role: Role;
}

class Session {
  state: SessionState = $state("unknown");
  /** Why the last sign-in failed. */
  problem: Problem | undefined = $state.raw();
  who: Who | undefined = $state.raw();
  /** Has been signed in since the page was opened: then the page stays under the sign-in card. */
  wasIn = $state(false);

  /** At the start of the page: by its link, else with the session of before. */
  async start(): Promise<void> {
    api.onUnauthorized(() => (this.state = "out"));
    // A link that is pasted into the address bar of an open page changes the fragment only: the browser loads nothing.
    addEventListener("hashchange", () => void this.#signInByAddress());
    if (await this.#signInByAddress()) return;
    if (api.pageKey === null) {
      this.state = "out";
      return;
    }
    try {
      const { last_event_id: lastId, ...who } = await api.get<UiSession>("/ui/session");
      live.startAfter(lastId);
      this.#entered(who);
    } catch (error) {
      // Without an answer the page shows what it has, and that the hub is away.
      if (this.state === "unknown" && error instanceof Problem && error.status !== 401)
        this.#entered({ role: "admin" });
    }
  }

  /** False if the address has no key. */
  async #signInByAddress(): Promise<boolean> {
    const key = keyIn(location.href);
    if (key === undefined) return false;
    // At once, and without a history entry: the key is used up, but it has no business in the address bar.
    history.replaceState(history.state, "", `${location.pathname}${location.search}`);
    await this.signIn(key);
    return true;
  }

  async signIn(key: string): Promise<void> {
    this.problem = undefined;
    try {
      const answer = await api.post<UiSignedIn>("/ui/session", { key });
      const { page_key: pageKey, last_event_id: lastId, return_to: returnTo, ...who } = answer;
      api.pageKey = pageKey;
      if (returnTo !== undefined) {
        // Loads anew: it may be another of the hub's pages. The hub lets through only paths of its own.
        location.replace(returnTo);
        return;
      }
      live.startAfter(lastId);
      this.#entered(who);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
      this.state = "out";
    }
  }

  /** Goes to an identity provider, and comes back to this page. */
  async signInBy(provider: string): Promise<void> {
    this.problem = undefined;
    try {
      const returnTo = `${location.pathname}${location.search}`;
      const { url } = await api.post<UiSignInBegun>("/ui/sign-ins", { provider, return_to: returnTo });
      location.assign(url);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
    }
  }

  async signOut({ everywhere = false }: { readonly everywhere?: boolean } = {}): Promise<void> {
    const answer = await api.del<UiSignedOut | undefined>(everywhere ? "/ui/sessions" : "/ui/session");
    api.pageKey = null;
    this.wasIn = false;
    this.who = undefined;
    this.state = "out";
    if (answer?.url !== undefined) location.assign(answer.url);
  }

  /** Whether the hub lets this browser do what needs a role. It refuses the rest by itself: this is about what to show. */
  may(role: Role): boolean {
    return this.who !== undefined && includesRole(this.who.role, role);
  }

  #entered({ user, role }: Who): void {
    const isOther = this.who !== undefined && (this.who.user !== user || this.who.role !== role);
    // What the page shows is of someone else.
    if (isOther) location.reload();
    this.who = { user, role };
    this.state = "in";
    this.wasIn = true;
  }
}

/** The key of a one-time link, or undefined. Takes the key alone too. */
export function keyIn(link: string): string | undefined {
  const text = link.trim();
  if (/^[\w-]{43}$/.test(text)) return text;
  return /#k=([\w-]+)$/.exec(text)?.[1];
}

export const session = new Session();
