// Access control of the HTTP server: rejects foreign web pages (host and origin) and requests without the configured token.

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { ChatError } from "../errors.ts";

export interface GuardOptions {
  readonly host: string;
  readonly token: string | undefined;
}

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

  constructor({ host, token }: GuardOptions) {
    this.#loopback = LOOPBACK.test(host);
    this.#token = token === undefined ? undefined : digest(token);
    if (!this.#loopback && token === undefined) {
      throw new ChatError(
        "INVALID_PARAMETER",
        `A token is required to listen on ${host}, which is not a loopback address`,
        {
          field: "host",
          hint: "Set --token-file or PLUGBOARD_CHAT_TOKEN, or omit --host",
        },
      );
    }
  }

  check(headers: IncomingHttpHeaders): Refusal | undefined {
    const { host, origin, authorization } = headers;
    // DNS rebinding: web pages reach local servers through a host name that resolves to loopback.
    if (this.#loopback && !isLoopbackHost(host))
      return refuse(403, "FORBIDDEN_HOST", "This server accepts local connections only");
    if (origin !== undefined && hostOf(origin) !== host?.toLowerCase()) {
      return refuse(403, "FORBIDDEN_ORIGIN", "Requests from other origins are not allowed");
    }
    if (this.#token === undefined) return undefined;
    const given = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    if (given !== undefined && timingSafeEqual(digest(given), this.#token)) return undefined;
    const challenge = given === undefined ? "" : ', error="invalid_token"';
    return refuse(401, "AUTHENTICATION_REQUIRED", "Authentication required: send the token as Authorization: Bearer", {
      "www-authenticate": `Bearer realm="plugboard-chat"${challenge}`,
    });
  }
}

function refuse(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Refusal {
  return { status, code, message, headers };
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
