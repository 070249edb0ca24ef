// Access control of the HTTP server: rejects foreign web pages (host and origin) and requests without the configured token.

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { looksMade } from "@plugboard/shared/access-tokens/form";
import { ChatError } from "../errors.ts";

export interface GuardOptions {
  readonly host: string;
  readonly token: string | undefined;
  /** Whether clients without any token are refused, although none is configured for all. */
  readonly needsToken?: () => boolean;
}

/** Who may go on. */
export type Admitted =
  /** Everything that chat.json shows. */
  | { readonly as: "whole" }
  /** What an access token of the hub may see. */
  | { readonly as: "token"; readonly token: string }
  | { readonly as: "refused"; readonly refusal: Refusal };

export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;

export class Guard {
  readonly #loopback: boolean;
  readonly #token: Buffer | undefined;
  readonly #needsToken: () => boolean;

  constructor({ host, token, needsToken = () => false }: GuardOptions) {
    this.#needsToken = needsToken;
    this.#loopback = LOOPBACK.test(host);
    this.#token = token === undefined ? undefined : digest(token);
    if (!this.#loopback && token === undefined && !needsToken()) {
      throw new ChatError(
        "INVALID_PARAMETER",
        `A token is required to listen on ${host}, which is not a loopback address`,
        {
          field: "host",
          hint: "Set --token-file or PLUGBOARD_CHAT_TOKEN, or access in chat.json for tokens of the hub, or omit --host",
        },
      );
    }
  }

  check(headers: IncomingHttpHeaders): Admitted {
    const { host, origin, authorization } = headers;
    // DNS rebinding: web pages reach local servers through a host name that resolves to loopback.
    if (this.#loopback && !isLoopbackHost(host))
      return refused(403, "FORBIDDEN_HOST", "This server accepts local connections only");
    if (origin !== undefined && hostOf(origin) !== host?.toLowerCase()) {
      return refused(403, "FORBIDDEN_ORIGIN", "Requests from other origins are not allowed");
    }
    const given = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    if (given !== undefined && looksMade(given)) return { as: "token", token: given };
    if (this.#token === undefined && !this.#needsToken()) return { as: "whole" };
    const isKnown = given !== undefined && this.#token !== undefined && timingSafeEqual(digest(given), this.#token);
    return isKnown ? { as: "whole" } : { as: "refused", refusal: authenticate(given !== undefined) };
  }

  /** For a token of the hub that is not valid. */
  get unknownToken(): Refusal {
    return authenticate(true);
  }

  /** For a token that is valid and named nowhere in chat.json. */
  noAccess(principal: string): Refusal {
    const message = `This token may see no chats: add ${JSON.stringify(principal)} to access in chat.json`;
    return { status: 403, code: "FORBIDDEN", message, headers: {} };
  }
}

function authenticate(hasToken: boolean): Refusal {
  const challenge = hasToken ? ', error="invalid_token"' : "";
  return {
    status: 401,
    code: "AUTHENTICATION_REQUIRED",
    message: "Authentication required: send the token as Authorization: Bearer",
    headers: { "www-authenticate": `Bearer realm="plugboard-chat"${challenge}` },
  };
}

function refused(status: number, code: string, message: string): Admitted {
  return { as: "refused", refusal: { status, code, message, headers: {} } };
}

function isLoopbackHost(host: string | undefined): boolean {
  if (host === undefined) return false;
  const name = host.replace(/:\d{1,5}$/, "");
  return LOOPBACK.test(name) && (isIP(name.replace(/^\[|\]$/g, "")) !== 0 || name.toLowerCase() === "localhost");
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}

/** Hashing gives both sides the same length, which timingSafeEqual requires. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
