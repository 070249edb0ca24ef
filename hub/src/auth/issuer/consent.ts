// The pages on which a person signs in and consents to what a client asks for. A code is given only to the browser that asked, and
// only after this person has sent the form of this page.

import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Provider } from "oidc-provider";
import { HubError } from "../../errors.ts";
import { consentPage, signInPage } from "../../http/pages/consent-pages.ts";
import { sendPage, type PagePolicy } from "../../http/pages/page.ts";
import { OWNER, type Grant } from "../grant.ts";
import { digestOf, isSameDigest } from "../secret-digest.ts";
import { AccessRequests, type AccessRequest, type WaitingRequest } from "./access-requests.ts";
import { redirectHost } from "./client-metadata.ts";
import { readForm } from "./form.ts";
import type { ClientLogin, IssuerStore } from "./issuer-store.ts";
import { CONSENT_PATH, SCRIPT_PATH } from "./paths.ts";
import { ANY_GROUP, groupOfResource } from "./resources.ts";

export interface ConsentOptions {
  readonly provider: Provider;
  readonly requests: AccessRequests;
  readonly store: () => Promise<IssuerStore>;
  readonly base: string;
  readonly defaultGroup: string;
  /** The groups that a caller may use, as they are now. */
  readonly groupsOf: (grant: Grant) => readonly string[];
  readonly addressOf: (request: IncomingMessage) => string;
  /** Whether people can sign in to the web interface at the address of the hub. */
  readonly hasUi: boolean;
  /** Resolves when it is recorded. */
  readonly onConsent: (login: ClientLogin, grant: Grant, address: string) => Promise<void>;
  readonly now: () => number;
}

const DAY_MS = 86_400_000;
/** The first is what is chosen unless the person changes it. */
export const EXPIRY_DAYS = [180, 30, 7, 1] as const;

export class Consent {
  readonly #options: ConsentOptions;

  constructor(options: ConsentOptions) {
    this.#options = options;
  }

  async answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const [, id = "", rest] = path.slice(CONSENT_PATH.length).split("/");
    const { asked, resource } = await this.#asked(request, response, id);
    const waiting = this.#options.requests.open(asked);
    if (rest === "state") return this.#state(response, waiting);
    if (rest !== undefined) throw new HubError("LoginNotFound", "There is nothing at this address");
    const { method = "" } = request;
    if (method === "POST") return this.#decide(request, response, waiting, resource);
    if (method === "GET" || method === "HEAD") return this.#show(request, response, waiting);
    throw new HubError("InvalidArgument", "This address takes only GET, HEAD, POST");
  }

  /** What the browser's own request asks for: its cookie says which it is, and the address must be the same. */
  async #asked(request: IncomingMessage, response: ServerResponse, id: string) {
    const { provider, base, defaultGroup, addressOf } = this.#options;
    const details = await provider.interactionDetails(request, response).catch(() => undefined);
    if (details === undefined || details.uid !== id) throw unknownRequest();
    const { client_id: clientId, redirect_uri: uri, resource, scope } = details.params;
    const client = await provider.Client.find(String(clientId));
    if (client === undefined || typeof uri !== "string" || typeof resource !== "string") throw unknownRequest();
    const { shown, isLoopback } = redirectHost(uri);
    const asked: AccessRequest = {
      id,
      clientId: client.clientId,
      clientName: client.clientName ?? "",
      redirectHost: shown,
      isLoopback,
      group: resource === ANY_GROUP ? undefined : groupOfResource(resource, base, defaultGroup),
      readOnly: scope === "mcp:read",
      address: addressOf(request),
    };
    return { asked, resource };
  }

  #show(request: IncomingMessage, response: ServerResponse, waiting: WaitingRequest): void | Promise<void> {
    const { groupsOf, hasUi } = this.#options;
    const { request: asked, code, csrf } = waiting;
    const isHead = request.method === "HEAD";
    const grant = signedIn(waiting);
    if (grant === undefined) {
      const page = signInPage({ ...asked, code, hasUi, script: SCRIPT_PATH });
      return sendPage(response, { status: 200, page, isHead, policy: { scripts: true } });
    }
    const may = groupsOf(grant);
    if (asked.group !== undefined && !may.includes(asked.group)) return this.#refuse(request, response, asked, "group");
    const groups = asked.group === undefined ? may : [asked.group];
    const page = consentPage({ ...asked, groups, csrf, who: nameOf(grant), days: EXPIRY_DAYS });
    return sendPage(response, { status: 200, page, isHead, ...formPolicy(asked) });
  }

  async #decide(
    request: IncomingMessage,
    response: ServerResponse,
    waiting: WaitingRequest,
    resource: string,
  ): Promise<void> {
    const { provider, requests, store, groupsOf, now, onConsent } = this.#options;
    const { request: asked } = waiting;
    const form = await readForm(request);
    // The listener has compared the Origin with the Host. Browsers send one with every POST.
    const isOurs = isSameDigest(digestOf(form.get("csrf") ?? ""), digestOf(waiting.csrf));
    if (request.headers.origin === undefined || !isOurs) {
      throw new HubError("Forbidden", "Consent can be given only on the page that asks for it");
    }
    const grant = signedIn(waiting);
    if (grant === undefined) throw unknownRequest();
    if (form.get("decision") !== "allow") return this.#refuse(request, response, asked, "person");
    const may = groupsOf(grant);
    const chosen = asked.group === undefined ? [...new Set(form.getAll("group"))] : [asked.group];
    const days = EXPIRY_DAYS.find((each) => String(each) === form.get("days"));
    if (chosen.length === 0) throw new HubError("InvalidArgument", "Choose at least one group", { field: "group" });
    if (days === undefined || !chosen.every((group) => may.includes(group))) {
      throw new HubError("Forbidden", "This is not what the page offered");
    }
    const at = now();
    const login: ClientLogin = {
      id: randomUUID(),
      client: asked.clientId,
      clientName: asked.clientName,
      redirectHost: asked.redirectHost,
      principal: grant.principal,
      groups: chosen,
      readOnly: asked.readOnly || grant.readOnly || form.get("read_only") === "on",
      createdAt: at,
      expiresAt: at + days * DAY_MS,
      usedAt: undefined,
    };
    requests.close(asked.id);
    await onConsent(login, grant, asked.address);
    await (await store()).addLogin(login);
    const consent = new provider.Grant({ accountId: login.principal, clientId: login.client });
    consent.jti = login.id;
    consent.exp = Math.floor(login.expiresAt / 1000);
    const scope = asked.readOnly ? "mcp:read" : "mcp mcp:read";
    // The library counts them among both.
    consent.addOIDCScope(scope);
    consent.addResourceScope(resource, scope);
    const result = {
      login: { accountId: login.principal, remember: false },
      consent: { grantId: await consent.save() },
    };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }

  async #refuse(
    request: IncomingMessage,
    response: ServerResponse,
    { id }: AccessRequest,
    by: keyof typeof REFUSALS,
  ): Promise<void> {
    const { provider, requests } = this.#options;
    requests.close(id);
    await provider.interactionFinished(request, response, REFUSALS[by], { mergeWithLastSubmission: false });
  }

  #state(response: ServerResponse, waiting: WaitingRequest): void {
    response.setHeader("content-type", "application/json");
    response.setHeader("cache-control", "no-store");
    response.end(JSON.stringify({ signed_in: signedIn(waiting) !== undefined }));
  }
}

const REFUSALS = {
  person: { error: "access_denied", error_description: "The request was denied." },
  group: { error: "invalid_target", error_description: "This resource cannot be used." },
} as const;

/** The form's answer leads to the client, and browsers apply the rule to that redirect too. */
function formPolicy({ redirectHost: host, isLoopback }: AccessRequest): {
  readonly policy: PagePolicy;
  readonly headers: Readonly<Record<string, string>>;
} {
  const target = host.endsWith(":") ? host : isLoopback ? `http://${host}:*` : `https://${host}:*`;
  // With `no-referrer`, a browser would send the form with the Origin `null`.
  return { policy: { formTarget: target }, headers: { "referrer-policy": "same-origin" } };
}

/** Not someone whose access has ended since. */
function signedIn({ signedIn: grant }: WaitingRequest): Grant | undefined {
  return grant?.hasEnded === true ? undefined : grant;
}

function nameOf({ principal, email }: Grant): string {
  return principal === OWNER ? "the owner of this hub" : (email ?? principal);
}

function unknownRequest(): HubError {
  return new HubError("LoginNotFound", "This request for access is not known any more", {
    hint: "Go back to the program that wants access, and let it connect again",
  });
}
