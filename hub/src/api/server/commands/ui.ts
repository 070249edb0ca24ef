// Sign-in of browsers to the web interface, and their sessions.

import type { ServerResponse } from "node:http";
import type { UiSession } from "../../../auth/ui-sessions.ts";
import { HubError } from "../../../errors.ts";
import type { UiKey, UiSession as UiSessionView, UiSessionEntry, UiSignedIn } from "../../schemas/ui.ts";
import type { BrowserAccess, SignIn } from "../browser/access.ts";

export class UiCommands {
  readonly #browser: BrowserAccess;
  readonly #lastEvent: () => number;

  /** `lastEvent`: the id of the newest event. */
  constructor(browser: BrowserAccess, lastEvent: () => number) {
    this.#browser = browser;
    this.#lastEvent = lastEvent;
  }

  /** A link for one browser. A session makes none: it could outlive its own end. */
  makeKey(origin: string, by: UiSession | undefined): UiKey {
    if (by !== undefined) throw new HubError("Forbidden", "Only the management token makes links to sign in");
    const { key, expiresAt } = this.#browser.makeKey();
    return { url: `${origin}/ui/#k=${key}`, expires_at: toTime(expiresAt) };
  }

  async signIn(by: SignIn): Promise<{ answer: UiSignedIn; cookie: string }> {
    const { session, credentials } = await this.#browser.signIn(by);
    const answer = { page_key: credentials.pageKey, expires_at: toTime(session.expiresAt), ...this.#position() };
    return { answer, cookie: credentials.cookie };
  }

  current(session: UiSession | undefined): UiSessionView {
    const { createdAt, expiresAt, userAgent } = required(session);
    return { created_at: toTime(createdAt), expires_at: toTime(expiresAt), user_agent: userAgent, ...this.#position() };
  }

  /** What a page reads afterwards is at least as new. */
  #position(): { last_event_id: string } {
    return { last_event_id: String(this.#lastEvent()) };
  }

  async signOut(session: UiSession | undefined, answer: ServerResponse): Promise<void> {
    const { id } = required(session);
    const sessions = await this.#browser.sessions();
    sessions.end(id, answer);
    await sessions.saved();
  }

  async list(current: UiSession | undefined): Promise<UiSessionEntry[]> {
    const sessions = await this.#browser.sessions();
    return sessions.list().map(({ id, createdAt, lastSeenAt, userAgent }) => ({
      id,
      created_at: toTime(createdAt),
      last_seen_at: toTime(lastSeenAt),
      user_agent: userAgent,
      current: id === current?.id,
    }));
  }

  async signOutAll(answer: ServerResponse): Promise<void> {
    const sessions = await this.#browser.sessions();
    sessions.endAll(answer);
    await sessions.saved();
  }
}

function required(session: UiSession | undefined): UiSession {
  if (session !== undefined) return session;
  throw new HubError("InvalidArgument", "This request has no browser session", {
    detail: "It has the management token, which is not a session",
  });
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
