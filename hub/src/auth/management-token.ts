// The token that the management API asks for: made at first start, kept in a file that only its owner can read, where
// the CLI finds it. Nothing else opens the API. Which requests are asked for it is left to the edges.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { createFileExclusive } from "../atomic.ts";
import { HubError } from "../errors.ts";
import { readPrivateFile } from "../secrets/private-file.ts";
import { FailureLimit, type FailureLimitOptions } from "./failure-limit.ts";

/** 256 bits; the prefix lets scanners of repositories and logs know what they found. */
const TOKEN = /^pb_[A-Za-z0-9_-]{43}$/;
const BEARER = /^Bearer +([^\s]+)$/i;

export class ManagementToken {
  /** The token itself is not kept: what is not there cannot be logged. */
  readonly #digest: Buffer;
  readonly #failures: FailureLimit;

  constructor(token: string, limit?: FailureLimitOptions) {
    this.#digest = digestOf(token);
    this.#failures = new FailureLimit(limit);
  }

  /** Reads the token of a data folder, and makes it where there is none. */
  static async open(dataDir: string, limit?: FailureLimitOptions): Promise<ManagementToken> {
    const path = tokenPath(dataDir);
    const known = (await read(path)) ?? (await make(path));
    if (known === undefined) throw unusable(path);
    return new ManagementToken(known, limit);
  }

  /**
   * Throws unless this `Authorization` header carries the token. Wrong tokens are limited per source; the right one is
   * let in whatever others on the same machine have tried.
   */
  require(authorization: string | undefined, source: string): void {
    const presented = BEARER.exec(authorization ?? "")?.[1];
    if (presented === undefined) throw unauthenticated("This address needs the management token");
    if (timingSafeEqual(digestOf(presented), this.#digest)) return;
    const waitMs = this.#failures.fail(source);
    if (waitMs === undefined) throw unauthenticated("This is not the management token");
    const hint = `Wait ${Math.ceil(waitMs / 1000)} s, then try again`;
    throw new HubError("RateLimited", "Too many wrong tokens", { hint, retryAfterMs: waitMs });
  }
}

/** The token of a hub on this machine; undefined where none has ever been started. */
export function readManagementToken(dataDir: string): Promise<string | undefined> {
  return read(tokenPath(dataDir));
}

export function tokenPath(dataDir: string): string {
  return join(dataDir, "token");
}

/** Of two hubs that start at once, one makes it and both have it. */
async function make(path: string): Promise<string | undefined> {
  const fresh = `pb_${randomBytes(32).toString("base64url")}`;
  return (await createFileExclusive(path, `${fresh}\n`, { mode: 0o600 })) ? fresh : read(path);
}

async function read(path: string): Promise<string | undefined> {
  const text = (await readPrivateFile(path))?.trim();
  if (text === undefined || TOKEN.test(text)) return text;
  throw unusable(path);
}

function unusable(path: string): HubError {
  return new HubError("InvalidConfig", `${path} does not hold a management token`, {
    hint: `Delete it, and the hub makes a new one at its next start: rm '${path}'`,
  });
}

function unauthenticated(message: string): HubError {
  return new HubError("Unauthenticated", message, {
    hint: "Send it as `Authorization: Bearer pb_…`; it stands in the file `token` of the hub's data folder",
  });
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
