// Offers the login at a server to the client whose request needs it, as a URL elicitation of the hub itself: `input_required` for a
// modern client, the error -32042 for a client of 2025-11-25. The address is the hub's own page, which begins the login.

import { randomUUID } from "node:crypto";
import { evictOldest } from "@plugboard/shared/evict";
import { HubError } from "../../errors.ts";
import type { Cancellation } from "../../lib/cancellation.ts";
import { editObject, isObject, type JsonObject } from "../../lib/json/json.ts";
import { LEGACY_VERSIONS, URL_ELICITATION_REQUIRED } from "../../protocol/revisions/era.ts";
import { failure, raw, rawParams, type RawParams, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { IncomingRequest, Session } from "../../protocol/serve/service.ts";
import { credentialsOf } from "../principal.ts";
import { missingCapability } from "./client-capabilities.ts";
import { inputRequired, readInputResponses } from "./input-required.ts";
import { SealedState } from "./sealed-state.ts";

/** How often one call of a modern client asks for the login. */
const MAX_ASKED = 3;
/**
 * How long a repeated call waits for the person: clients repeat it as soon as the page is open. Three waits, and less than the
 * usual time limit of a client for each.
 */
const WAIT_MS = 20_000;
const MAX_OFFERS = 1000;
const KEY = "login";
const STATE_PREFIX = "plugboard-login.";
/** The first revision that has the error -32042. */
const [FIRST_WITH_URL_ERROR] = LEGACY_VERSIONS;

/** A login that is offered to all calls that would use it, until it is completed. */
interface Offer {
  readonly elicitationId: string;
  /** Legacy clients that are notified when it is completed. */
  readonly sessions: Set<Session>;
  /** Repeated calls that wait for the person. */
  readonly waiting: Set<() => void>;
  /** The person's last attempt failed: waiting for it is of no use. */
  hasFailed: boolean;
}

/** A call that is repeated after it was answered with the offer. */
export interface LoginRetry {
  /** How often the call has asked so far. */
  readonly asked: number;
  /** The params as the client would have sent them without the offer. */
  readonly params: RawParams;
  readonly isAccepted: boolean;
}

/** Whose login a request of a principal uses at a server. */
type OwnerOf = (server: string, principal: string) => string;

export interface LoginOffersOptions {
  readonly waitMs?: number;
  readonly ownerOf?: OwnerOf;
}

export class LoginOffers {
  /** By server and principal. */
  readonly #offers = new Map<string, Offer>();
  readonly #waitMs: number;
  readonly #ownerOf: OwnerOf;

  constructor({ waitMs = WAIT_MS, ownerOf = (_, principal) => principal }: LoginOffersOptions = {}) {
    this.#waitMs = waitMs;
    this.#ownerOf = ownerOf;
  }

  /** The offer as a reply to a request that failed with `error`. Undefined: the client gets the error. */
  reply(incoming: IncomingRequest, server: string, error: HubError, retry?: LoginRetry): Reply | undefined {
    const { loginUrl: url } = error;
    if (url === undefined) return undefined;
    const params = { mode: "url", message: `${error.message}. Log in on the page at this address.`, url };
    if (missingCapability({ method: "elicitation/create", params }, incoming.capabilities) !== undefined)
      return undefined;
    if (incoming.era === "legacy") return this.#legacyReply(incoming, server, error, params);
    const asked = (retry?.asked ?? 0) + 1;
    if (asked > MAX_ASKED) return undefined;
    this.#offerOf(this.#keyFor(server, incoming)).hasFailed = false;
    const request = { method: "elicitation/create", params };
    return inputRequired(new Map([[KEY, request]]), stateOf(asked, retry?.params ?? incoming.request.params));
  }

  /** Waits, within limits, for the login that a repeated call was answered with. Throws if the person declined it. */
  async resume(
    incoming: Pick<IncomingRequest, "requester">,
    server: string,
    { isAccepted }: LoginRetry,
    signal: Cancellation,
  ): Promise<void> {
    if (!isAccepted) {
      throw new HubError("ClientRefused", `Server "${server}" needs a login, and the client declined it`, {
        hint: `plugboard auth ${server}`,
      });
    }
    const offer = this.#offers.get(this.#keyFor(server, incoming));
    if (offer === undefined || offer.hasFailed || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        offer.waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, this.#waitMs);
      offer.waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  /** A login of a principal at the server has begun, succeeded or failed. */
  onLogin(server: string, principal: string, what: string): void {
    const key = keyOf(server, principal);
    const offer = this.#offers.get(key);
    if (offer === undefined) return;
    if (what === "started") offer.hasFailed = false;
    if (what === "failed") {
      offer.hasFailed = true;
      wake(offer);
    }
    if (what === "completed") this.#completed(key, offer);
  }

  endSession(session: Session): void {
    for (const { sessions } of this.#offers.values()) sessions.delete(session);
  }

  /** Ends the waits. */
  close(): void {
    for (const offer of this.#offers.values()) wake(offer);
    this.#offers.clear();
  }

  /** The id is the same for all calls, so that a client shows one question. */
  #legacyReply(incoming: IncomingRequest, server: string, error: HubError, params: JsonObject): Reply | undefined {
    const { session } = incoming;
    if (session === undefined || session.version < FIRST_WITH_URL_ERROR) return undefined;
    const { elicitationId, sessions } = this.#offerOf(this.#keyFor(server, incoming));
    sessions.add(session);
    return failure({
      code: URL_ELICITATION_REQUIRED,
      message: error.message,
      data: { ...error.toJSON(), elicitations: [{ ...params, elicitationId }] },
    });
  }

  #keyFor(server: string, incoming: Pick<IncomingRequest, "requester">): string {
    return keyOf(server, this.#ownerOf(server, credentialsOf(incoming)));
  }

  #offerOf(key: string): Offer {
    const known = this.#offers.get(key);
    if (known !== undefined) return known;
    const offer = {
      elicitationId: randomUUID(),
      sessions: new Set<Session>(),
      waiting: new Set<() => void>(),
      hasFailed: false,
    };
    this.#offers.set(key, offer);
    evictOldest(this.#offers, MAX_OFFERS);
    return offer;
  }

  #completed(key: string, offer: Offer): void {
    this.#offers.delete(key);
    wake(offer);
    const params = raw({ elicitationId: offer.elicitationId });
    for (const session of offer.sessions) session.notify("notifications/elicitation/complete", params);
  }
}

function keyOf(server: string, principal: string): string {
  return JSON.stringify([server, principal]);
}

/** Undefined if the request is not the repetition of one that was answered with an offer. */
export function readLoginRetry(params: RawParams | undefined): LoginRetry | undefined {
  const state = params?.value["requestState"];
  if (params === undefined || typeof state !== "string" || !state.startsWith(STATE_PREFIX)) return undefined;
  const { asked, inputResponses, requestState } = contentOf(state);
  const action = readInputResponses(params.value)?.get(KEY)?.["action"];
  return {
    asked: typeof asked === "number" ? asked : MAX_ASKED,
    params: withMembers(params, { inputResponses, requestState }),
    isAccepted: action === "accept",
  };
}

/**
 * What the client sends back with its answer. It contains the client's own input to the server, which the answer replaces. Nothing
 * depends on it that the client could not send anyway, so it is not sealed.
 */
function stateOf(asked: number, params: RawParams | undefined): string {
  const { inputResponses, requestState } = params?.value ?? {};
  // A suspended call has ended with the failure, so it begins anew.
  const input = SealedState.looksSealed(requestState) ? {} : { inputResponses, requestState };
  const content = JSON.stringify({ asked, ...input });
  return STATE_PREFIX + Buffer.from(content).toString("base64url");
}

function contentOf(state: string): JsonObject {
  try {
    const content: unknown = JSON.parse(Buffer.from(state.slice(STATE_PREFIX.length), "base64url").toString());
    return isObject(content) ? content : {};
  } catch {
    return {};
  }
}

/** Undefined members are removed. */
function withMembers({ bytes, value, members }: RawParams, changes: JsonObject): RawParams {
  const texts = Object.entries(changes).map(([key, change]) => [
    key,
    change === undefined ? undefined : JSON.stringify(change),
  ]);
  return rawParams({ ...value, ...changes }, editObject(bytes, Object.fromEntries(texts), members));
}

function wake({ waiting }: Offer): void {
  for (const done of waiting) done();
}
