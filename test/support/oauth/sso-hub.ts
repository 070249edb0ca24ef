// A hub with an identity provider, oidc-provider, and the requests of a browser that signs in there.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Users } from "../../../hub/src/auth/users.ts";
import { IdentityFile } from "../../../hub/src/identity/identity-file.ts";
import { SqliteUsers } from "../../../hub/src/identity/sqlite-users.ts";
import { ask, pageHeaders } from "../browser-session.ts";
import { makeHome, plugboard, startHub, type Home, type RunningHub, type Servers } from "../hub.ts";
import { http, type HttpResult } from "../rpc.ts";
import { startAuthorizationServer, type AuthorizationServer } from "./authorization-server.ts";
import { Browser } from "./browser.ts";
import { freePort, freePortPair } from "../sockets.ts";

export const PROVIDER = "Acme ID";
const SECRET = "the-secret-of-the-hub-at-acme";
const SECRET_NAME = "acme-sso";

export interface SsoHub {
  readonly hub: RunningHub;
  /** Where people sign in. */
  readonly url: string;
  readonly home: Home;
  readonly provider: AuthorizationServer;
  /** Again, on the same port, as the provider knows it. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface SsoHubOptions {
  readonly servers?: Servers;
  readonly groups?: unknown;
  /** Of `auth` in hub.json. */
  readonly auth?: Readonly<Record<string, unknown>>;
  /** Of the provider in `auth.sso`. */
  readonly sso?: Readonly<Record<string, unknown>>;
  /** The hub is managed at another address: `hub.url`. */
  readonly isAdminLocal?: boolean;
}

/** All people of a test have the same address. */
export const SIGN_INS_PER_MINUTE = 40;

export async function startSsoHub(options: SsoHubOptions = {}): Promise<SsoHub> {
  const { servers = {}, groups, auth = {}, sso = {}, isAdminLocal = false } = options;
  const port = isAdminLocal ? await freePortPair() : await freePort();
  const url = `http://127.0.0.1:${port}`;
  const provider = await startAuthorizationServer({
    registration: false,
    logout: true,
    clients: [
      {
        client_id: "plugboard",
        client_secret: SECRET,
        redirect_uris: [`${url}/login/callback`],
        post_logout_redirect_uris: [`${url}/ui/`],
        backchannel_logout_uri: `${url}/login/backchannel/${encodeURIComponent(PROVIDER)}`,
        backchannel_logout_session_required: true,
      },
    ],
  });
  const home = await makeHome(servers, groups);
  const entry = {
    name: PROVIDER,
    issuer: provider.issuer,
    client_id: "plugboard",
    client_secret: { secretRef: SECRET_NAME },
    ...sso,
  };
  const place = isAdminLocal ? { listen: { admin: "loopback" }, public_url: url } : {};
  const limits = { sign_ins_per_minute: SIGN_INS_PER_MINUTE };
  const settings = { ...place, auth: { limits, ...auth, sso: [entry] } };
  await writeFile(join(home.dir, "config/hub.json"), JSON.stringify(settings));
  await plugboard(home, ["secret", "set", SECRET_NAME], { stdin: SECRET });
  const start = () => startHub(home, { args: ["--port", String(port)] });
  let hub = await start();
  return {
    get hub() {
      return hub;
    },
    url,
    home,
    provider,
    restart: async () => {
      await hub.stop();
      hub = await start();
    },
    close: async () => {
      await hub.stop();
      await provider.close();
      await home.remove();
    },
  };
}

/** The users of a hub, as another process on its data folder sees and changes them. */
export async function withUsers<T>({ home }: Pick<SsoHub, "home">, work: (users: Users) => Promise<T>): Promise<T> {
  const file = await IdentityFile.open(join(home.dir, "data/identity.db"));
  const users = new Users({
    hasStore: () => true,
    openStore: () => Promise.resolve(new SqliteUsers(file)),
    onWarning: () => undefined,
  });
  try {
    return await work(users);
  } finally {
    users.close();
    await file.close();
  }
}

export interface Begun {
  /** At the provider. */
  readonly url: string;
  readonly cookie: string;
}

export async function begin(hub: Pick<RunningHub, "url">, returnTo?: string): Promise<Begun> {
  const body = { provider: PROVIDER, ...(returnTo === undefined ? {} : { return_to: returnTo }) };
  const answer = await ask(hub, "POST /ui/sign-ins", pageHeaders(hub), body);
  if (answer.status !== 201) throw new Error(`Not begun: ${answer.body}`);
  return { url: JSON.parse(answer.body).url, cookie: cookieIn(answer) };
}

/** What the person does at the provider: the address that the browser is sent back to. */
export async function approve({ url }: Begun, browser = new Browser()): Promise<string> {
  const page = await browser.open(url, ({ pathname }) => pathname === "/login/callback");
  return page.url;
}

/** The browser comes back: the hub's answer. */
export function comeBack(callback: string, cookie: string): Promise<HttpResult> {
  const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  return http(callback, { method: "GET", headers: { ...headers, cookie } });
}

export function keyIn({ headers }: HttpResult): string {
  return headers["location"]?.split("#k=")[1] ?? "";
}

export interface SignedInPerson {
  /** Of each request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: Readonly<Record<string, unknown>>;
  readonly setCookie: string;
}

/** All of a sign-in. `before`: cookies that the browser has already; `at`: that of the provider. */
export async function signInAs(
  { hub, provider }: Pick<SsoHub, "provider"> & { readonly hub: Pick<RunningHub, "url"> },
  account: string,
  { returnTo, before = "", at = new Browser() }: { returnTo?: string; before?: string; at?: Browser } = {},
): Promise<SignedInPerson> {
  provider.settings.account = account;
  const begun = await begin(hub, returnTo);
  const back = await comeBack(await approve(begun, at), begun.cookie);
  if (back.status !== 303) throw new Error(`Not recognised: ${back.body}`);
  return enter(hub, keyIn(back), [before, begun.cookie].filter(Boolean).join("; "));
}

export async function enter(hub: Pick<RunningHub, "url">, key: string, cookie: string): Promise<SignedInPerson> {
  const answer = await ask(hub, "POST /ui/session", { ...pageHeaders(hub), cookie }, { key });
  if (answer.status !== 200) throw new Error(`Not signed in: ${answer.body}`);
  const body = JSON.parse(answer.body);
  const headers = { ...pageHeaders(hub), cookie: cookieIn(answer), "x-plugboard-key": String(body.page_key) };
  return { headers, answer: body, setCookie: String(answer.headers["set-cookie"]?.[0]) };
}

function cookieIn({ headers }: HttpResult): string {
  return headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? "";
}
