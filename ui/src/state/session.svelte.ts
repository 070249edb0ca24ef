// Whether this browser is signed in. The key of the one-time link is in the fragment of the address, which is never sent anywhere.

import type { UiSession, UiSignedIn } from "$api/ui.ts";
import { api, Problem } from "../lib/hub/api.ts";
import { live } from "./live.svelte.ts";

type SessionState = "unknown" | "in" | "out";

class Session {
  state: SessionState = $state("unknown");
  /** Why the last sign-in failed. */
  problem: Problem | undefined = $state.raw();
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
      const { last_event_id: lastId } = await api.get<UiSession>("/ui/session");
      live.startAfter(lastId);
      this.#entered();
    } catch (error) {
      // Without an answer the page shows what it has, and that the hub is away.
      if (this.state === "unknown" && error instanceof Problem && error.status !== 401) this.#entered();
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
      const { page_key: pageKey, last_event_id: lastId } = await api.post<UiSignedIn>("/ui/session", { key });
      api.pageKey = pageKey;
      live.startAfter(lastId);
      this.#entered();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
      this.state = "out";
    }
  }

  async signOut({ everywhere = false }: { readonly everywhere?: boolean } = {}): Promise<void> {
    await api.del(everywhere ? "/ui/sessions" : "/ui/session");
    api.pageKey = null;
    this.wasIn = false;
    this.state = "out";
  }

  #entered(): void {
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
