// The embedded authorization server: OAuth clients get access tokens for the groups that a person lets them use. An edge of the
// listener; what it needs is loaded on the first request to one of its addresses.

import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import { HubError, toHubError } from "../../errors.ts";
import { issuerErrorPage } from "../../http/pages/consent-pages.ts";
import { renderPage, sendPage } from "../../http/pages/page.ts";
import { identify } from "../../http/request-id.ts";
import type { AccessTokens } from "../access-tokens.ts";
import type { AuditedBy } from "../audit.ts";
import type { Grant } from "../grant.ts";
import type { RequestRates } from "../request-rates.ts";
import { AccessRequests, type WaitingRequest } from "./access-requests.ts";
import type { Consent } from "./consent.ts";
import { MAX_UNUSED_CLIENTS, type ClientLogin, type IssuerStore } from "./issuer-store.ts";
import { loadLibrary } from "./library.ts";
import { ownerOf, ROUTES } from "./paths.ts";
import type { MadeProgram, NewProgram } from "./programs.ts";
import type { IssuerRules, ProviderOptions } from "./provider.ts";
import { groupOfResource } from "./resources.ts";
import { withScope } from "./scope.ts";
import { SIGN_IN_SCRIPT } from "./sign-in-script.ts";

export interface IssuerOptions extends Pick<ProviderOptions, "defaultGroup" | "fetch" | "isActive"> {
  readonly rules: IssuerRules;
  /** The address of the hub, as clients know it. Called when it listens. */
  readonly base: () => string;
  /** Whether people can sign in to the web interface there. */
  readonly hasUi: boolean;
  readonly tokens: AccessTokens;
  readonly openStore: () => Promise<IssuerStore>;
  /** The groups that a caller may use. */
  readonly groupsOf: (grant: Grant) => readonly string[];
  readonly rates: RequestRates;
  /** The address that a request comes from. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Resolves when the event is recorded: what it is about happens only then. */
  readonly onEvent: (event: IssuerEvent) => Promise<void>;
  readonly onUnexpected: (error: unknown, requestId: string) => void;
  /** The wall clock, in milliseconds. */
  readonly now?: () => number;
}

/** What is worth recording. */
export type IssuerEvent = {
  readonly by: AuditedBy;
  readonly address: string | undefined;
} & (
  | { readonly what: "consent.given" | "consent.revoked"; readonly login: ClientLogin }
  | { readonly what: "client.registered"; readonly client: string; readonly name: string }
);

/** A login with the last use of its tokens. */
export interface LoginUse extends ClientLogin {
  readonly usedFrom: string | undefined;
}

interface Loaded {
  readonly library: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly consent: Consent;
}

export class Issuer {
  readonly #options: IssuerOptions;
  readonly #now: () => number;
  readonly #requests: AccessRequests;
  /** The request that the library answers. */
  readonly #source = new AsyncLocalStorage<{
    readonly address: string;
    readonly path: string;
    readonly response: ServerResponse;
  }>();
  #store: Promise<IssuerStore> | undefined;
  #loading: Promise<Loaded> | undefined;

  constructor(options: IssuerOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => Date.now());
    this.#requests = new AccessRequests(this.#now);
  }

  readonly edge = (request: IncomingMessage, response: ServerResponse): boolean => {
    const path = request.url?.split("?", 1)[0] ?? "";
    const owner = ownerOf(path);
    if (owner === undefined) return false;
    const requestId = identify(request, response);
    this.#answer(owner, request, response, path).catch((thrown: unknown) => this.#fail(response, thrown, requestId));
    return true;
  };

  /** What waits for this code. */
  requestOf(code: string): WaitingRequest {
    return this.#requests.findByCode(code);
  }

  /** Signs the browser that shows the code in, as the caller. */
  approve(code: string, grant: Grant): WaitingRequest {
    const waiting = this.#requests.findByCode(code);
    waiting.signedIn = grant;
    return waiting;
  }

  /** Gives a program access by credentials of its own. */
  async addProgram(given: NewProgram): Promise<MadeProgram> {
    const { makeProgram } = await import("./programs.ts");
    const made = makeProgram(given, this.#now());
    const store = await this.#open();
    await store.addClient(made.client, MAX_UNUSED_CLIENTS);
    await store.addLogin(made.login);
    return made;
  }

  async logins(): Promise<LoginUse[]> {
    const [store, issued] = await Promise.all([this.#open(), this.#options.tokens.listIssued()]);
    const byUse = issued.toSorted((one, other) => (other.usedAt ?? 0) - (one.usedAt ?? 0));
    return (await store.listLogins()).map((login) => {
      const last = byUse.find((token) => token.issued?.login === login.id);
      const usedAt = Math.max(login.usedAt ?? 0, last?.usedAt ?? 0);
      return { ...login, usedAt: usedAt === 0 ? undefined : usedAt, usedFrom: last?.usedFrom };
    });
  }

  /** Ends a login: its tokens, and everything that they hold open. */
  async revoke(login: ClientLogin, by: Grant): Promise<void> {
    await this.#options.onEvent({ what: "consent.revoked", login, by, address: undefined });
    await this.#options.tokens.endIssued({ login: login.id }, by.principal);
    await (await this.#open()).revokeLogin(login.id, by.principal);
  }

  async #answer(
    owner: NonNullable<ReturnType<typeof ownerOf>>,
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ): Promise<void> {
    if (owner === "script") {
      response.setHeader("x-content-type-options", "nosniff");
      response.writeHead(200, { "content-type": "text/javascript; charset=utf-8", "cache-control": "no-store" });
      return void response.end(request.method === "HEAD" ? undefined : SIGN_IN_SCRIPT);
    }
    this.#limit(path, this.#options.addressOf(request));
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    const { library, consent } = await this.#loading;
    if (owner === "consent") return consent.answer(request, response, path);
    if (path === ROUTES.authorization) request.url = withScope(request.url ?? "");
    const source = { address: this.#options.addressOf(request), path, response };
    await this.#source.run(source, () => library(request, response));
  }

  /** Counts a request of a client for tokens, by its address too: many people use the same hosted client. */
  #tokenRequest(client: string): HubError | undefined {
    const source = this.#source.getStore();
    if (source?.path !== ROUTES.token) return undefined;
    const refusal = this.#options.rates.count("token_requests", `${source.address} ${client}`);
    if (refusal?.retryAfterMs !== undefined) {
      source.response.setHeader("retry-after", String(Math.ceil(refusal.retryAfterMs / 1000)));
    }
    return refusal;
  }

  #limit(path: string, address: string): void {
    const { rates } = this.#options;
    if (path === ROUTES.registration) rates.take("client_registrations", address);
    if (path === ROUTES.authorization) rates.take("authorizations", address);
  }

  async #load(): Promise<Loaded> {
    const { base, hasUi, tokens, groupsOf, addressOf, defaultGroup, onEvent, onUnexpected } = this.#options;
    const [{ createProvider }, { Consent: Implementation }, { Storage }] = await Promise.all([
      import("./provider.ts"),
      import("./consent.ts"),
      import("./storage.ts"),
    ]);
    const store = () => this.#open();
    const source = () => this.#source.getStore()?.address ?? "";
    const { OIDCProviderError } = (await loadLibrary()).errors;
    const provider = await createProvider({
      ...this.#options,
      base: base(),
      storage: new Storage({
        tokens,
        store,
        source,
        groupOf: (audience) => groupOfResource(audience, base(), defaultGroup),
        onClient: (id) => {
          const refusal = this.#tokenRequest(id);
          if (refusal === undefined) return;
          throw Object.assign(new OIDCProviderError(429, "slow_down"), { error_description: refusal.message });
        },
        onEvent: (event) => onEvent({ ...event, address: source() }),
        now: this.#now,
      }),
      showError: (context, error) => {
        const { status, headers, body } = renderPage({ status: context.status, page: errorPage(error) });
        context.status = cannotFetch(error) ? 503 : status;
        context.set({ ...headers });
        context.body = body;
      },
      onUnexpected: (error) => onUnexpected(error, ""),
    });
    const consent = new Implementation({
      provider,
      requests: this.#requests,
      store,
      base: base(),
      defaultGroup,
      hasUi,
      groupsOf,
      addressOf,
      now: this.#now,
      onConsent: (login, grant, address) => onEvent({ what: "consent.given", login, by: grant, address }),
    });
    return { library: provider.callback(), consent };
  }

  #open(): Promise<IssuerStore> {
    return (this.#store ??= this.#options.openStore().catch((error: unknown) => {
      this.#store = undefined;
      throw error;
    }));
  }

  #fail(response: ServerResponse, thrown: unknown, requestId: string): void {
    const error = toHubError(thrown);
    if (error.kind === "Unexpected") this.#options.onUnexpected(thrown, requestId);
    const { retryAfterMs } = error;
    sendPage(response, {
      status: error.meaning.http,
      page: issuerErrorPage(error.message, error.hint ?? ""),
      ...(retryAfterMs === undefined ? {} : { headers: { "retry-after": String(Math.ceil(retryAfterMs / 1000)) } }),
    });
  }
}

/** The document of a client could not be had. */
function cannotFetch({ cause }: Error): boolean {
  return cause instanceof HubError;
}

function errorPage(error: Error) {
  if (cannotFetch(error)) {
    return issuerErrorPage(
      "The program that wants access cannot be checked now: its own description cannot be read.",
      "Try again later.",
    );
  }
  return issuerErrorPage(
    "The program that wants access made a request that is not valid. Nothing was given to it.",
    `What is wrong: ${describe(error)}`,
  );
}

function describe(error: Error): string {
  const text: unknown = "error_description" in error ? error.error_description : undefined;
  return typeof text === "string" ? text : error.message;
}
