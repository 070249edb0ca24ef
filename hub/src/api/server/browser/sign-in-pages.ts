// The addresses that identity providers use: the browser comes back to the callback after a sign-in, and the back channel says that
// a person has signed out there.

import { text as readText } from "node:stream/consumers";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { SsoSignIns } from "../../../auth/sso/sign-ins.ts";
import { HubError, toHubError } from "../../../errors.ts";
import { html } from "../../../http/pages/html.ts";
import { BACK_CHANNEL_PATH, SIGN_IN_CALLBACK_PATH } from "../../../http/pages/linked-pages.ts";
import { sendPage, type Page } from "../../../http/pages/page.ts";
import type { BrowserAccess } from "./access.ts";
import { cookiesOf, SIGN_IN } from "./cookie.ts";
import { addressOf } from "../../../http/client-address.ts";

export interface SignInPagesOptions {
  readonly browser: BrowserAccess;
  readonly sso: SsoSignIns;
  readonly onUnexpected: (error: unknown) => void;
}

const FORM = /^application\/x-www-form-urlencoded *(?:;|$)/i;
const MAX_FORM_BYTES = 64 * 1024;

export async function answerSignInPage(
  request: IncomingMessage,
  response: ServerResponse,
  options: SignInPagesOptions,
): Promise<void> {
  const [path = "", query = ""] = (request.url ?? "").split("?", 2);
  if (path === SIGN_IN_CALLBACK_PATH) return answerCallback(request, response, query, options);
  await answerBackChannel(request, response, decode(path.slice(BACK_CHANNEL_PATH.length)), options);
}

/** Not for HEAD: a program that looks must not use the state up. */
async function answerCallback(
  request: IncomingMessage,
  response: ServerResponse,
  query: string,
  { sso, onUnexpected }: SignInPagesOptions,
): Promise<void> {
  const { method, headers } = request;
  try {
    if (method !== "GET") throw new HubError("InvalidArgument", "This address takes only GET");
    const callback = new URL(`http://localhost${SIGN_IN_CALLBACK_PATH}?${query}`);
    const key = await sso.callback(callback, cookiesOf(headers, SIGN_IN), addressOf(request));
    // Relative: a proxy may serve the hub under a prefix. The key is in the fragment, which is never sent anywhere.
    const location = `../ui/#k=${key}`;
    response.writeHead(303, { location, "cache-control": "no-store", "referrer-policy": "no-referrer" }).end();
  } catch (thrown) {
    const error = toHubError(thrown);
    if (error.kind === "Unexpected") onUnexpected(thrown);
    sendPage(response, { status: error.meaning.http, page: refusal(error) });
  }
}

function refusal({ message, detail, hint }: HubError): Page {
  const title = "You are not signed in";
  return {
    title,
    main: html`<h1>${title}</h1>
      <p class="notice failed">${message}${detail === undefined || detail === message ? "" : `: ${detail}`}</p>
      ${hint === undefined ? undefined : html`<p>What helps: ${hint}</p>`}
      <p><a href="../ui/">Back to the hub</a></p>`,
  };
}

/** OpenID Connect Back-Channel Logout, section 2.5. */
async function answerBackChannel(
  request: IncomingMessage,
  response: ServerResponse,
  provider: string,
  { browser, sso, onUnexpected }: SignInPagesOptions,
): Promise<void> {
  const answer = (status: number, body?: object) => {
    response.writeHead(status, { "cache-control": "no-store", "content-type": "application/json" });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  };
  try {
    const token = new URLSearchParams(await readForm(request)).get("logout_token") ?? "";
    const { issuer, subject, sessionId } = await sso.logout(provider, token);
    const sessions = await browser.sessions();
    // With a session id, only that session ends.
    sessions.endWhere(({ person }) => {
      if (person?.provider !== provider || person.issuer !== issuer) return false;
      if (subject !== undefined && person.subject !== subject) return false;
      return sessionId === undefined || person.providerSession === sessionId;
    });
    await sessions.saved();
    answer(200);
  } catch (thrown) {
    const error = toHubError(thrown);
    if (error.kind === "Unexpected") onUnexpected(thrown);
    const isRefused = error.kind !== "ConnectionFailed" && error.kind !== "Timeout" && error.kind !== "Unexpected";
    answer(isRefused ? 400 : 503, { error: "invalid_request", error_description: error.message });
  }
}

async function readForm(request: IncomingMessage): Promise<string> {
  if (request.method !== "POST") throw new HubError("InvalidArgument", "This address takes only POST");
  if (!FORM.test(request.headers["content-type"] ?? ""))
    throw new HubError("InvalidArgument", "The body must be a form");
  if (!(Number(request.headers["content-length"]) <= MAX_FORM_BYTES))
    throw new HubError("InvalidArgument", `The body needs a Content-Length of at most ${MAX_FORM_BYTES}`);
  return readText(request);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // no provider has this name
  }
}
