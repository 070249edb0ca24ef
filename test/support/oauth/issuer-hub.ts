// A hub whose own authorization server is switched on, and a person who lets clients use it.

import { createHash, randomBytes } from "node:crypto";
import { Grant } from "../../../hub/src/auth/grant.ts";
import { hubPaths } from "../../../hub/src/config/files/paths.ts";
import type { Hub, HubOptions } from "../../../hub/src/hub/hub.ts";
import { published } from "../hub.ts";
import { openInProcess } from "../in-process.ts";
import { Browser, type Page } from "./browser.ts";

export const OWNER = {
  kind: "owner",
  id: "test",
  principal: "local",
  role: "admin",
  groups: "*",
  readOnly: false,
} as const;

export interface IssuerHub {
  readonly hub: Hub;
  readonly url: string;
  /** The data folder. */
  readonly data: string;
  end(): Promise<unknown>;
}

const SERVERS = { everything: published("server-everything"), memory: published("server-memory") };
export const GROUPS = { tools: { servers: ["everything"] }, dev: { servers: ["memory"] } };

export interface IssuerHubOptions extends Pick<HubOptions, "fetchDocument"> {
  /** More of `auth.server`. */
  readonly server?: object;
  /** More of `auth`. */
  readonly auth?: object;
  /** More of hub.json. */
  readonly settings?: object;
  readonly groups?: object;
}

export async function openIssuerHub({
  server,
  auth,
  settings: more,
  groups = GROUPS,
  fetchDocument,
}: IssuerHubOptions = {}): Promise<IssuerHub> {
  const settings = { ...more, auth: { mcp: "required", server: { enabled: true, ...server }, ...auth } };
  const documents = fetchDocument === undefined ? {} : { fetchDocument };
  const opened = await openInProcess(SERVERS, { groups, settings, ...documents });
  opened.hub.events.on("unexpected", ({ error }) => process.stderr.write(`${error}\n`));
  const url = await opened.hub.listen({ host: "127.0.0.1", port: 0 });
  await opened.hub.start();
  const { data } = hubPaths({ env: opened.home.env, platform: process.platform, home: opened.home.dir });
  return { hub: opened.hub, url, data, end: opened.end };
}

export interface Choice {
  readonly grant?: Grant;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Opens an authorization request, approves the code that the page shows, and sends the form of the consent page. */
export async function consent(
  { hub }: Pick<IssuerHub, "hub">,
  url: string,
  { grant = new Grant(OWNER), fields = {} }: Choice = {},
  browser = new Browser(),
): Promise<Page> {
  const page = await signIn({ hub }, url, grant, browser);
  const isElsewhere = ({ origin }: URL) => origin !== new URL(page.url).origin;
  return browser.submit(page, { decision: "allow", days: "30", ...fields }, isElsewhere);
}

/** The consent page. */
export async function signIn(
  { hub }: Pick<IssuerHub, "hub">,
  url: string,
  grant: Grant,
  browser: Browser,
  until?: (url: URL) => boolean,
): Promise<Page> {
  const page = await browser.open(url, until);
  const code = /plugboard approve ([A-Z0-9]{4}-[A-Z0-9]{4})/.exec(page.text)?.[1];
  if (code === undefined) return page;
  hub.issuer?.approve(code, grant);
  return browser.open(page.url, until);
}

/** A client that does as the specification says, step by step. */
export class StepClient {
  readonly verifier = randomBytes(32).toString("base64url");
  readonly #base: string;
  readonly redirectUri: string;
  id = "";

  constructor(base: string, redirectUri = "http://127.0.0.1:9/callback") {
    this.#base = base;
    this.redirectUri = redirectUri;
  }

  async register(metadata: object = {}): Promise<Response> {
    const response = await fetch(`${this.#base}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        client_name: "Step Client",
        redirect_uris: [this.redirectUri],
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        ...metadata,
      }),
    });
    if (response.ok) this.id = ((await response.clone().json()) as { client_id: string }).client_id;
    return response;
  }

  authorizeUrl(changed: Changes = {}): string {
    const url = new URL(`${this.#base}/oauth/authorize`);
    const parameters = {
      response_type: "code",
      client_id: this.id,
      redirect_uri: this.redirectUri,
      code_challenge: createHash("sha256").update(this.verifier).digest("base64url"),
      code_challenge_method: "S256",
      resource: `${this.#base}/groups/dev/mcp`,
      state: "af0ifjsldkj",
      ...changed,
    };
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
    return url.href;
  }

  token(
    parameters: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(`${this.#base}/oauth/token`, {
      method: "POST",
      headers,
      body: new URLSearchParams({ client_id: this.id, ...parameters }),
    });
  }

  redeem(code: string, changed: Readonly<Record<string, string>> = {}): Promise<Response> {
    return this.token({
      grant_type: "authorization_code",
      code,
      redirect_uri: this.redirectUri,
      code_verifier: this.verifier,
      ...changed,
    });
  }

  refresh(token: string): Promise<Response> {
    return this.token({ grant_type: "refresh_token", refresh_token: token });
  }
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly scope: string;
}

/** The tokens of a login of a client. */
export async function logIn(at: IssuerHub, choice: Choice, client: StepClient, parameters: Changes = {}) {
  const page = await consent(at, client.authorizeUrl(parameters), choice);
  const code = new URL(page.url).searchParams.get("code");
  if (code === null) throw new Error(`No code: ${page.url} ${page.status} ${page.text}`);
  const response = await client.redeem(code);
  const tokens = (await response.json()) as Tokens;
  return { client, code, page, tokens };
}

export type Changes = Readonly<Record<string, string | undefined>>;
