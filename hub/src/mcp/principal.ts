// Who a client's request comes from. The one place that says so: today by the credentials that the client shows, unchecked.

import { createHash } from "node:crypto";
import { HubError } from "../errors.ts";
import { LOCAL, type Caller } from "../servers/caller.ts";
import type { Era } from "../wire/era.ts";
import type { JsonObject } from "../wire/json.ts";
import type { AskClient, Exchange } from "../wire/server.ts";

/** The user behind a request: the same credentials are the same user, and none are whoever may use this machine. */
export function principalOf({ headers }: Pick<Exchange, "headers">): string {
  const { authorization } = headers;
  if (typeof authorization !== "string" || authorization === "") return LOCAL.principal();
  // A digest: it is kept as long as what it names, and the credentials need not be.
  return createHash("sha256").update(authorization).digest("base64url");
}

type Origin = Pick<Exchange, "headers" | "session" | "era" | "capabilities" | "ask">;

export function callerOf(exchange: Origin): Caller {
  return new ClientCaller(exchange);
}

/** One object for each request, and no closures: it is made on the hot path. */
class ClientCaller implements Caller {
  readonly #exchange: Origin;

  constructor(exchange: Origin) {
    this.#exchange = exchange;
  }

  get session(): string | undefined {
    return this.#exchange.session?.id;
  }

  get era(): Era {
    return this.#exchange.era;
  }

  get capabilities(): JsonObject {
    return this.#exchange.capabilities;
  }

  principal(): string {
    return principalOf(this.#exchange);
  }

  get askSession(): AskClient | undefined {
    return this.#exchange.session?.ask;
  }

  /** On the session's stream; a client that holds none open is asked on the one of its request. */
  get ask(): AskClient | undefined {
    const { session, ask } = this.#exchange;
    if (session === undefined || ask === undefined) return ask ?? session?.ask;
    return (method, params, options) =>
      session.ask(method, params, options).catch((error: unknown) => {
        if (error instanceof HubError && error.kind === "ConnectionFailed") return ask(method, params, options);
        throw error;
      });
  }
}

/**
 * Clients that shook hands are told apart, and those with a pipe of their own. Of the others nothing is known but the user
 * behind them, if even that.
 */
export function clientKey(exchange: Pick<Exchange, "headers" | "session" | "connection">): string | undefined {
  if (exchange.session !== undefined) return `session ${exchange.session.id}`;
  if (exchange.connection !== undefined) return `connection ${exchange.connection}`;
  return exchange.headers["authorization"] === undefined ? undefined : `principal ${principalOf(exchange)}`;
}
