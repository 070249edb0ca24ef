// Who may talk to the HTTP server at all: no foreign web page, and nobody without the token where there is one.

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
        `Without a token nobody but this machine may connect: ${host} is no loopback address`,
        {
          field: "host",
          hint: "Give --token-file or PLUGBOARD_CHAT_TOKEN, or leave out --host",
        },
      );
    }
  }

  check(headers: IncomingHttpHeaders): Refusal | undefined {
    const { host, origin, authorization } = headers;
    // A name that somebody else's DNS points here is how web pages reach local servers.
    if (this.#loopback && !isLoopbackHost(host))
      return refuse(403, "FORBIDDEN_HOST", "This server is for this machine only");
    if (origin !== undefined && hostOf(origin) !== host?.toLowerCase()) {
      return refuse(403, "FORBIDDEN_ORIGIN", "Web pages of other origins may not connect");
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

/** Of one length, whatever was given. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
