// The texts of the login pages.

import type { HubError } from "../../errors.ts";
import { html, type Html } from "./html.ts";
import type { Page } from "./page.ts";

/** Description of a login before it begins. */
export interface LoginOffer {
  readonly server: string;
  /** Host of the page where the person logs in. */
  readonly authorizationServer: string;
  readonly scopes: readonly string[];
  /** The account of the login that a new one would replace; empty if its name is not known. */
  readonly account?: string | undefined;
  /** The redirect URI. */
  readonly redirectUri: string;
}

export type LoginResult = { readonly server: string } & (
  | { readonly state: "pending" }
  | { readonly state: "completed"; readonly account?: string | undefined; readonly isRenewable: boolean }
  | { readonly state: "failed"; readonly error: HubError }
);

export function offerPage({ server, authorizationServer, scopes, account }: LoginOffer): Page {
  const replaced =
    account === undefined
      ? undefined
      : html`<p class="notice">
          ${server} is connected${account === "" ? "" : ` as ${account}`}. A new login replaces this one.
        </p>`;
  return {
    title: `Connect ${server}`,
    main: html`<h1>Connect ${server}</h1>
      <p class="faint">Plugboard can use this MCP server after you have logged in.</p>
      ${replaced}
      <dl>
        <dt>Server</dt>
        <dd>${server}</dd>
        <dt>You log in at</dt>
        <dd><strong>${authorizationServer}</strong></dd>
        <dt>Scopes</dt>
        <dd>${scopeList(scopes)}</dd>
      </dl>
      <form method="post"><button>Continue to ${authorizationServer}</button></form>
      <p class="faint">
        Continue only if you want to connect this server, and check that the next page is at ${authorizationServer}.
      </p>`,
  };
}

function scopeList(scopes: readonly string[]): Html {
  if (scopes.length === 0) return html`none: the authorization server decides`;
  return html`<ul>
    ${scopes.map((scope) => html`<li><code>${scope}</code></li>`)}
  </ul>`;
}

export function resultPage(result: LoginResult): Page {
  const { server } = result;
  switch (result.state) {
    case "pending":
      return {
        title: `Connecting ${server}`,
        main: html`<h1>Not finished yet</h1>
          <p>The login at ${server} waits for you. Load this page again after it.</p>`,
      };
    case "completed":
      return completedPage(server, result.account, result.isRenewable);
    case "failed":
      return failedPage(result.error, server);
  }
}

function completedPage(server: string, account: string | undefined, isRenewable: boolean): Page {
  const ends = isRenewable
    ? undefined
    : html`<p class="notice">
        The authorization server gave no refresh token. You will have to repeat this login when its token expires.
      </p>`;
  return {
    title: `${server} is connected`,
    main: html`<h1>Connected</h1>
      <p class="notice done">${server} is connected${account === undefined ? "" : ` as ${account}`}.</p>
      ${ends}
      <p>You can close this page.</p>`,
  };
}

function failedPage(error: HubError, server: string): Page {
  return {
    title: "The login failed",
    main: html`<h1>The login failed</h1>
      ${reason(error)}
      <p><a href="/connect/${encodeURIComponent(server)}">Try again</a></p>`,
  };
}

export function refusalPage(error: HubError): Page {
  return {
    title: "The login cannot begin",
    main: html`<h1>The login cannot begin</h1>
      ${reason(error)}`,
  };
}

function reason({ message, detail, hint }: HubError): Html {
  const help = html`<p>What helps: <code>${hint}</code></p>`;
  return html`<p class="notice failed">${message}${detail === undefined || detail === message ? "" : `: ${detail}`}</p>
    ${hint === undefined ? undefined : help}`;
}

/** Nothing of the request is shown: it may come from anywhere. */
export const UNKNOWN_PAGE: Page = {
  title: "This login is not known any more",
  main: html`<h1>This login is not known any more</h1>
    <p>It was finished or cancelled, or it is older than ten minutes.</p>
    <p>To log in again: <code>plugboard auth SERVER</code></p>`,
};

export const OTHER_BROWSER_PAGE: Page = {
  title: "This login was begun in another browser",
  main: html`<h1>This login was begun in another browser</h1>
    <p>Finish it there. If it was this browser, allow cookies for this address and begin again.</p>`,
};
