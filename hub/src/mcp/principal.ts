// Identifies the user and the client behind a request: as the edge has authenticated them, or by the credentials that the client
// sends, which are not verified.

import { createHash } from "node:crypto";
import { HubError } from "../errors.ts";
import { LOCAL, type Caller } from "../servers/instances/caller.ts";
import type { Era } from "../protocol/revisions/era.ts";
import type { JsonObject } from "../lib/json/json.ts";
import type { AskClient, IncomingRequest } from "../protocol/serve/service.ts";

type Credentials = Pick<IncomingRequest, "headers" | "requester">;

/** The user behind a request: the authenticated one; or one per `Authorization` header; without it, the local user. */
export function principalOf({ headers, requester }: Credentials): string {
  if (requester !== undefined) return requester.principal;
  const { authorization } = headers;
  if (typeof authorization !== "string" || authorization === "") return LOCAL.principal();
  // A digest, since the principal is kept longer than the credentials should be.
  return createHash("sha256").update(authorization).digest("base64url");
}

/** Whom a session, task or suspended call belongs to: the user, and the client that acts for them. */
export function ownerOf(incoming: Credentials): string {
  return incoming.requester?.owner ?? principalOf(incoming);
}

/** Credentials that were not verified give no access to a person's logins: as without any, the hub's owner calls. */
export function credentialsOf({ requester }: Pick<IncomingRequest, "requester">): string {
  return requester?.principal ?? LOCAL.credentialsOf();
}

/** The caller of something that outlives its request. */
export function lastingCallerOf(incoming: Credentials): Caller {
  const [principal, credentials] = [principalOf(incoming), credentialsOf(incoming)];
  return { principal: () => principal, credentialsOf: () => credentials };
}

type Origin = Pick<IncomingRequest, "headers" | "requester" | "session" | "era" | "capabilities" | "ask">;

export function callerOf(incoming: Origin): Caller {
  return new ClientCaller(incoming);
}

/** One object per request and no closures: this is on the hot path. */
class ClientCaller implements Caller {
  readonly #incoming: Origin;

  constructor(incoming: Origin) {
    this.#incoming = incoming;
  }

  get session(): string | undefined {
    return this.#incoming.session?.id;
  }

  get era(): Era {
    return this.#incoming.era;
  }

  get capabilities(): JsonObject {
    return this.#incoming.capabilities;
  }

  principal(): string {
    return principalOf(this.#incoming);
  }

  credentialsOf(): string {
    return credentialsOf(this.#incoming);
  }

  get askSession(): AskClient | undefined {
    return this.#incoming.session?.ask;
  }

  /** On the session's stream; if the client has none open, on the stream of its request. */
  get ask(): AskClient | undefined {
    const { session, ask } = this.#incoming;
    if (session === undefined || ask === undefined) return ask ?? session?.ask;
    return (method, params, options) =>
      session.ask(method, params, options).catch((error: unknown) => {
        if (error instanceof HubError && error.kind === "ConnectionFailed") return ask(method, params, options);
        throw error;
      });
  }
}

/** The client behind a request: its session or its own connection. Otherwise its user, or undefined without credentials. */
export function clientKey(incoming: Credentials & Pick<IncomingRequest, "session" | "connection">): string | undefined {
  if (incoming.session !== undefined) return `session ${incoming.session.id}`;
  if (incoming.connection !== undefined) return `connection ${incoming.connection}`;
  const isKnown = incoming.requester !== undefined || incoming.headers["authorization"] !== undefined;
  return isKnown ? `principal ${ownerOf(incoming)}` : undefined;
}
