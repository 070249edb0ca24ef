// The token of the management API: created at the first start, stored in a file that only its owner can read, where the CLI
// finds it.

import { join } from "node:path";
import { createFileExclusive } from "../lib/files/atomic.ts";
import { HubError } from "../errors.ts";
import { readPrivateFile } from "../lib/files/private-file.ts";
import { credentialIn } from "./credential.ts";
import { RequestRates } from "./request-rates.ts";
import { digestOf, isSameDigest, randomSecret } from "./secret-digest.ts";

/** 256 bits. Secret scanners recognise the prefix. */
const TOKEN = /^pb_[A-Za-z0-9_-]{43}$/;

export class ManagementToken {
  /** Only a digest, so that the token cannot be logged by mistake. */
  readonly #digest: Buffer;
  readonly #rates: RequestRates;
  #onFailed: (source: string, error: HubError) => void = () => undefined;

  constructor(token: string, rates: RequestRates = new RequestRates()) {
    this.#digest = digestOf(token);
    this.#rates = rates;
  }

  /** Reads the token of a data folder, or creates it. */
  static async open(dataDir: string, rates?: RequestRates): Promise<ManagementToken> {
    const path = tokenPath(dataDir);
    const known = (await read(path)) ?? (await create(path));
    if (known === undefined) throw unusable(path);
    return new ManagementToken(known, rates);
  }

  /**
   * Throws unless the `Authorization` header has the token. Wrong tokens are rate-limited by source; the right token is
   * always accepted, so that other programs on the same machine cannot lock the user out.
   */
  require(authorization: string | undefined, source: string): void {
    const presented = credentialIn(authorization)?.token;
    if (presented === undefined) throw unauthenticated("This address needs the management token");
    if (this.is(presented)) return;
    throw this.failed(source, unauthenticated("This is not the management token"));
  }

  is(presented: string): boolean {
    return isSameDigest(digestOf(presented), this.#digest);
  }

  /** Called for wrong credentials of any sort. */
  whenFailed(listener: (source: string, error: HubError) => void): void {
    this.#onFailed = listener;
  }

  /** Counts wrong credentials of any sort. Gives the error to answer with: the given one, or another above the limit. */
  failed(source: string, error: HubError): HubError {
    this.#onFailed(source, error);
    return this.#rates.count("wrong_credentials", source) ?? error;
  }

  /** Identifies the token without revealing it: what was granted by it can end with it. */
  get fingerprint(): string {
    return digestOf(`fingerprint ${this.#digest.toString("hex")}`).toString("base64url");
  }
}

/** The token of the hub on this machine; undefined if no hub has ever been started. */
export function readManagementToken(dataDir: string): Promise<string | undefined> {
  return read(tokenPath(dataDir));
}

export function tokenPath(dataDir: string): string {
  return join(dataDir, "token");
}

/** Of two hubs that start at once, one creates the file and both use it. */
async function create(path: string): Promise<string | undefined> {
  const newToken = `pb_${randomSecret()}`;
  return (await createFileExclusive(path, `${newToken}\n`, { mode: 0o600 })) ? newToken : read(path);
}

async function read(path: string): Promise<string | undefined> {
  const text = (await readPrivateFile(path))?.trim();
  if (text === undefined || TOKEN.test(text)) return text;
  throw unusable(path);
}

function unusable(path: string): HubError {
  return new HubError("InvalidConfig", `${path} does not hold a management token`, {
    hint: `Delete it, and the hub creates a new token at its next start: rm '${path}'`,
  });
}

function unauthenticated(message: string): HubError {
  return new HubError("Unauthenticated", message, {
    hint: "Send it as `Authorization: Bearer pb_…`; it is in the file `token` of the hub's data folder",
  });
}
