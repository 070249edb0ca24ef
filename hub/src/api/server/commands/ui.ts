// Sign-in of browsers to the web interface, and their sessions.

import type { IncomingMessage, ServerResponse } from "node:http";
import { OWNER, type Grant } from "../../../auth/grant.ts";
import type { AuditLog } from "../../../auth/audit.ts";
import { may } from "../../../auth/policy.ts";
import type { SsoSignIns } from "../../../auth/sso/sign-ins.ts";
import type { UiSession } from "../../../auth/ui-sessions.ts";
import { labelOf, type Users } from "../../../auth/users.ts";
import { HubError } from "../../../errors.ts";
import { SIGN_IN_CALLBACK_PATH } from "../../../http/pages/linked-pages.ts";
import type {
  SignInProvider,
  UiKey,
  UiSession as UiSessionView,
  UiSessionEntry,
  UiSignedIn,
  UiSignedOut,
  UiSignInBegun,
} from "../../schemas/ui.ts";
import type { BrowserAccess, SignIn } from "../browser/access.ts";
import { addressOf } from "../../../http/client-address.ts";

export interface UiCommandsOptions {
  readonly browser: BrowserAccess;
  readonly users: Pick<Users, "find">;
  readonly audit: Pick<AuditLog, "record">;
  /** The id of the newest event. */
  readonly lastEvent: () => number;
}

/** Who asks, and by which request. */
export interface UiCaller {
  readonly grant: Grant | undefined;
  readonly session: UiSession | undefined;
  readonly response: ServerResponse;
}

export class UiCommands {
  readonly #options: UiCommandsOptions;

  constructor(options: UiCommandsOptions) {
    this.#options = options;
  }

  /** A link for one browser. A session makes none: it could outlive its own end. */
  makeKey(origin: string, by: UiSession | undefined): UiKey {
    if (by !== undefined) throw new HubError("Forbidden", "Only the management token makes links to sign in");
    const { key, expiresAt } = this.#options.browser.makeKey();
    return { url: `${origin}/ui/#k=${key}`, expires_at: toTime(expiresAt) };
  }

  providers(): SignInProvider[] {
    return this.#options.browser.sso?.names.map((name) => ({ name })) ?? [];
  }

  /** Begins a sign-in by an identity provider, in the browser of a page of the hub. */
  async beginSignIn(
    { provider, return_to: returnTo }: { readonly provider: string; readonly return_to?: string | undefined },
    request: IncomingMessage,
  ): Promise<{ answer: UiSignInBegun; cookie: string }> {
    const origin = originOf(request.headers);
    const { publicUrl } = this.#options.browser;
    if (publicUrl !== undefined && publicUrl !== origin) {
      throw new HubError("InvalidArgument", `Sign-in by ${provider} works at the public address of the hub`, {
        hint: `Open ${publicUrl}/ui/`,
      });
    }
    const redirectUri = `${origin}${SIGN_IN_CALLBACK_PATH}`;
    const source = addressOf(request);
    const { url, cookie } = await this.#sso().begin({ provider, redirectUri, returnTo, source });
    return { answer: { url }, cookie };
  }

  async signIn(by: SignIn): Promise<{ answer: UiSignedIn; cookie: string; ageMs: number }> {
    const { session, credentials, returnTo } = await this.#options.browser.signIn(by);
    await this.#record("auth.signed_in", session, by.request);
    const answer = {
      page_key: credentials.pageKey,
      expires_at: toTime(session.expiresAt),
      ...this.#who(session),
      ...this.#position(),
      ...(returnTo === undefined ? {} : { return_to: returnTo }),
    };
    return { answer, cookie: credentials.cookie, ageMs: session.expiresAt - session.createdAt };
  }

  current(session: UiSession | undefined): UiSessionView {
    const required = requiredSession(session);
    const { createdAt, expiresAt, userAgent } = required;
    return {
      created_at: toTime(createdAt),
      expires_at: toTime(expiresAt),
      user_agent: userAgent,
      ...this.#who(required),
      ...this.#position(),
    };
  }

  /** What a page reads afterwards is at least as new. */
  #position(): { last_event_id: string } {
    return { last_event_id: String(this.#options.lastEvent()) };
  }

  async signOut({ session, response }: UiCaller): Promise<UiSignedOut> {
    const { id, person, idToken } = requiredSession(session);
    const sessions = await this.#options.browser.sessions();
    sessions.end(id, response);
    await sessions.saved();
    await this.#record("auth.signed_out", requiredSession(session), response.req);
    if (person === undefined) return {};
    const returnTo = `${originOf(response.req.headers)}/ui/`;
    const url = await this.#options.browser.sso?.endSessionUrl(person.provider, { returnTo, idToken });
    return url === undefined ? {} : { url };
  }

  /** An administrator sees those of all people. */
  async list({ grant, session }: UiCaller): Promise<UiSessionEntry[]> {
    const sessions = await this.#options.browser.sessions();
    return sessions
      .list()
      .filter((each) => maySee(grant, each))
      .map((each) => ({
        id: each.id,
        created_at: toTime(each.createdAt),
        last_seen_at: toTime(each.lastSeenAt),
        user_agent: each.userAgent,
        current: each.id === session?.id,
        ...this.#who(each),
      }));
  }

  async end(id: string, { grant, response }: UiCaller): Promise<void> {
    const sessions = await this.#options.browser.sessions();
    const found = sessions.list().find((each) => each.id === id && maySee(grant, each));
    if (found === undefined) throw new HubError("LoginNotFound", "There is no such session, or it has ended");
    sessions.end(id, response);
    await sessions.saved();
    await this.#record("session.end", found, response.req, grant);
  }

  /** All of the caller's own; an administrator signs out everyone. */
  async signOutAll({ grant, response }: UiCaller): Promise<void> {
    const sessions = await this.#options.browser.sessions();
    sessions.endWhere((each) => maySee(grant, each), response);
    await sessions.saved();
    if (grant !== undefined) {
      await this.#options.audit.record({
        by: grant,
        action: "session.end",
        object: "all browsers",
        address: addressOf(response.req),
      });
    }
  }

  #who({ grant, person }: UiSession): Pick<UiSessionEntry, "user" | "role"> {
    if (person === undefined) return { role: grant.role };
    const user = this.#options.users.find(person.user);
    return { role: grant.role, user: user === undefined ? person.subject : labelOf(user) };
  }

  #record(
    action: "auth.signed_in" | "auth.signed_out" | "session.end",
    { grant, person }: UiSession,
    request: IncomingMessage,
    by: Grant = grant,
  ): Promise<void> {
    const object = person === undefined ? OWNER : grant.principal;
    return this.#options.audit.record({
      by,
      action,
      object,
      detail: person?.provider,
      address: addressOf(request),
    });
  }

  #sso(): SsoSignIns {
    const { sso } = this.#options.browser;
    if (sso !== undefined) return sso;
    throw new HubError("LoginNotFound", "This hub has no identity provider", {
      hint: "Sign in by a link: plugboard open",
    });
  }
}

/** One's own sessions; an administrator, those of everyone. */
function maySee(grant: Grant | undefined, session: UiSession): boolean {
  return grant !== undefined && may(grant, { to: "handle", owner: session.grant.principal, as: "admin" });
}

/** Of the page that asks. The listener accepts others, whose pages have no sessions. */
function originOf({ origin = "", host = "" }: IncomingMessage["headers"]): string {
  if (URL.canParse(origin) && new URL(origin).host === host.toLowerCase()) return origin;
  throw new HubError("Forbidden", "Only pages of the hub sign people in and out");
}

function requiredSession(session: UiSession | undefined): UiSession {
  if (session !== undefined) return session;
  throw new HubError("InvalidArgument", "This request has no browser session", {
    detail: "It has a token, which is not a session",
  });
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
