// Takes a person through a login at a server: shows where to go, opens the browser if there is one, and waits for the end.

import type { LoginAttempt, LoginInput } from "../../api/schemas/login.ts";
import { HubError } from "../../errors.ts";
import { Interrupted } from "../interrupted.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { timeoutOf } from "../input/timeout.ts";
import { fromBody } from "../input/error-body.ts";
import { askLine, canAsk } from "../terminal/ask.ts";
import { hasBrowser, openBrowser } from "../terminal/browser.ts";
import { waiting } from "../terminal/spinner.ts";
import { oneLine } from "../terminal/text.ts";
import { span } from "../terminal/times.ts";
import type { Access } from "./hub-access.ts";

export interface LoginOptions extends GlobalOptions {
  /** False for --no-browser. */
  readonly browser?: boolean;
  readonly device?: boolean;
  readonly paste?: boolean;
  readonly input?: boolean;
}

export interface WantedLogin {
  /** Name of the server. */
  readonly server: string;
  readonly request: Omit<LoginInput, "flow">;
}

const TIMEOUT_MS = 300_000;

/** Resolves when the login is stored, with its principal. */
export async function logIn(io: Io, access: Access, wanted: WantedLogin, options: LoginOptions): Promise<string> {
  const { api, out } = access;
  const { server } = wanted;
  const timeoutMs = timeoutOf(options) ?? TIMEOUT_MS;
  const ended = new AbortController();
  io.onSignal(() => ended.abort(new Interrupted(io)));
  const timer = setTimeout(() => ended.abort(tooLate(server, timeoutMs)), timeoutMs);
  let attempt: LoginAttempt | undefined;
  let isAsking = false;
  const onOpen = async () => {
    attempt = await begin(io, access, wanted, options);
    isAsking = await present(io, access, attempt, options);
    if (!isAsking) return;
    // The login may also end without an answer: then the question is withdrawn.
    askForAddress(io, access, attempt, ended.signal).catch((error: unknown) => ended.abort(error));
  };
  const run = async () => {
    for await (const { warning } of access.loginEvents({ onOpen, signal: ended.signal })) {
      if (warning !== undefined) out.warn(warning);
      if (attempt === undefined) continue;
      attempt = await api.logins.getAttempt(attempt.id);
      if (attempt.state !== "pending") return attempt;
    }
    throw ended.signal.reason;
  };
  try {
    const { state, error, principal } = await waiting(
      io,
      out,
      () => (isAsking ? undefined : "waiting for the login"),
      run(),
    );
    if (state === "failed") throw fromBody({ hint: `plugboard auth ${server}`, ...error });
    return principal;
  } catch (error) {
    if (attempt?.state === "pending") await api.logins.cancel(attempt.id).catch(() => undefined); // it ends by itself
    throw error;
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}

/** Without a browser here, a code is easier than an address to paste, if the authorization server offers that. */
async function begin(
  io: Io,
  { api }: Access,
  { server, request }: WantedLogin,
  { device, paste, browser }: LoginOptions,
): Promise<LoginAttempt> {
  if (device === true) return api.logins.begin(server, { ...request, flow: "device" });
  if (paste !== true && browser !== false && !hasBrowser(io)) {
    try {
      return await api.logins.begin(server, { ...request, flow: "device" });
    } catch (error) {
      if (!(error instanceof HubError) || error.kind !== "LoginFailed") throw error;
    }
  }
  return api.logins.begin(server, request);
}

/** Says what to do. Returns whether the person may paste an address. */
async function present(io: Io, access: Access, attempt: LoginAttempt, options: LoginOptions): Promise<boolean> {
  const { server, authorization_server: host, scopes } = attempt;
  const about = `Log in to ${server} at ${oneLine(host)}${scopes.length === 0 ? "" : `, for ${oneLine(scopes.join(" "))}`}`;
  const say = (text: string) => void io.stderr.write(`${text}\n`);
  if (attempt.flow === "device") {
    const { verification_uri, verification_uri_complete = verification_uri } = attempt;
    say(`${about}:\n  ${await toShown(verification_uri_complete)}\nCode: ${oneLine(attempt.user_code)}`);
    return false;
  }
  const url = await toShown(attempt.url);
  say(`${about}:\n  ${url}`);
  const { paste = false, browser = true } = options;
  if (!paste && browser && hasBrowser(io)) {
    if (await openBrowser(io, url)) access.out.note("Opened it in your browser.");
    else say("No browser could be opened: open the address yourself.");
  }
  // The browser comes back to this machine; a remote hub is elsewhere.
  const isElsewhere = paste || !hasBrowser(io) || (access.hub !== undefined && access.hub.record === undefined);
  if (!isElsewhere || !(paste || canAsk(io, options))) return false;
  say("Open it in any browser. If its last page does not load, copy the address of that page and paste it here.");
  return true;
}

/** The URL parser's form of an address. Throws for anything but https, or http on this machine. */
async function toShown(address: string): Promise<string> {
  // On demand: the code of the commands must not contain what the hub needs at its start.
  const { parseSafeUrl } = await import("../../oauth/fetch/safe-url.ts");
  return parseSafeUrl(address, "the login").href;
}

/** Asks until the address is right. */
async function askForAddress(io: Io, { api }: Access, { id }: LoginAttempt, signal: AbortSignal): Promise<void> {
  for (;;) {
    const address = await askLine(io, "Address: ", signal);
    if (signal.aborted || address === undefined) return;
    if (address === "") continue;
    try {
      await api.logins.finish(id, address);
      return;
    } catch (error) {
      if (!(error instanceof HubError) || error.kind !== "InvalidArgument") throw error;
      io.stderr.write(`${error.message}${error.hint === undefined ? "" : `. ${error.hint}`}\n`);
    }
  }
}

function tooLate(server: string, timeoutMs: number): HubError {
  return new HubError("LoginFailed", `The login at "${server}" was not finished within ${span(timeoutMs)}`, {
    hint: `plugboard auth ${server} --timeout 15m`,
  });
}
