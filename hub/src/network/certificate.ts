// The hub's TLS certificate: read, checked, and read again when its files change, so that a renewal needs no restart.

import { X509Certificate, createPrivateKey } from "node:crypto";
import { watch, type FSWatcher } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { dirname } from "node:path";
import { HubError } from "../errors.ts";

export interface CertificateFiles {
  /** PEM, with the intermediate certificates. */
  readonly cert: string;
  readonly key: string;
}

export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly expiresAt: Date;
  /** What is wrong with it for this public URL, and how to mend it. */
  readonly problem: CertificateProblem | undefined;
}

export interface CertificateProblem {
  readonly setting: "tls.cert" | "tls.key";
  readonly message: string;
  readonly fix: string;
}

const DAY_MS = 86_400_000;
const SOON_MS = 14 * DAY_MS;
const OTHERS = 0o077;
/** Tools write certificate and key one after the other. */
const SETTLE_MS = 500;
/** For file systems that report no changes. */
const CHECK_MS = 3_600_000;

/** Throws InvalidConfig if a file cannot be read or parsed. `host`: of the public URL. */
export async function readCertificate(files: CertificateFiles, host: string | undefined): Promise<Certificate> {
  const [cert, key, { mode }] = await Promise.all([
    read("tls.cert", files.cert),
    read("tls.key", files.key),
    stat(files.key).catch((error: unknown) => Promise.reject(unreadable("tls.key", files.key, error))),
  ]);
  const parsed = parse("tls.cert", files.cert, () => new X509Certificate(cert));
  const own = parse("tls.key", files.key, () => createPrivateKey(key));
  const expiresAt = new Date(parsed.validTo);
  const problem = (): CertificateProblem | undefined => {
    if (process.platform !== "win32" && (mode & OTHERS) !== 0) {
      const message = `The key ${files.key} is open to other users of this machine`;
      return { setting: "tls.key", message, fix: `chmod 600 '${files.key}'` };
    }
    if (!parsed.checkPrivateKey(own)) {
      const message = `The key ${files.key} does not belong to the certificate ${files.cert}`;
      return { setting: "tls.key", message, fix: "Name the key that the certificate was made for" };
    }
    if (host !== undefined && !covers(parsed, host)) {
      const message = `The certificate ${files.cert} is not for ${host}, the host of public_url`;
      return { setting: "tls.cert", message, fix: `Get a certificate for ${host}, or correct public_url` };
    }
    if (expiresAt.getTime() <= Date.now()) {
      const message = `The certificate ${files.cert} expired on ${expiresAt.toISOString().slice(0, 10)}`;
      return { setting: "tls.cert", message, fix: "Renew it" };
    }
    return undefined;
  };
  return { cert, key, expiresAt, problem: problem() };
}

function covers(certificate: X509Certificate, host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "");
  return (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
}

async function read(setting: string, path: string): Promise<Buffer> {
  return readFile(path).catch((error: unknown) => Promise.reject(unreadable(setting, path, error)));
}

function parse<T>(setting: string, path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    const hint = "Use files in the form PEM, and a key without a passphrase";
    throw new HubError("InvalidConfig", `${setting}: ${path} cannot be used`, { field: setting, hint, cause: error });
  }
}

function unreadable(setting: string, path: string, error: unknown): HubError {
  const detail = error instanceof Error ? error.message : String(error);
  return new HubError("InvalidConfig", `${setting}: ${path} cannot be read`, { field: setting, detail, cause: error });
}

export interface LiveCertificateOptions {
  readonly files: CertificateFiles;
  readonly host: string | undefined;
  /** Gets each later certificate that can be used. */
  readonly onRenewal: (certificate: Certificate) => void;
  readonly onWarning: (message: string) => void;
}

/** The certificate in use. One that cannot be used does not replace it. */
export class LiveCertificate {
  readonly #options: LiveCertificateOptions;
  readonly #watchers: readonly FSWatcher[];
  readonly #check: NodeJS.Timeout;
  #current: Certificate;
  #settling: NodeJS.Timeout | undefined;

  constructor(current: Certificate, options: LiveCertificateOptions) {
    this.#current = current;
    this.#options = options;
    const { cert, key } = options.files;
    // The folders: tools replace files, or the links that lead to them.
    this.#watchers = [...new Set([dirname(cert), dirname(key)])].map((folder) =>
      watch(folder, { persistent: false }, () => this.#schedule()).on("error", () => undefined),
    );
    this.#check = setInterval(() => this.#schedule(), CHECK_MS);
    this.#check.unref();
  }

  get expiresInMs(): number {
    return this.#current.expiresAt.getTime() - Date.now();
  }

  /** For the status: it expires within 14 days, or has expired. */
  get warnings(): string[] {
    const left = this.expiresInMs;
    if (left > SOON_MS) return [];
    const day = this.#current.expiresAt.toISOString().slice(0, 10);
    const { cert } = this.#options.files;
    return [
      left <= 0 ? `The TLS certificate ${cert} expired on ${day}` : `The TLS certificate ${cert} expires on ${day}`,
    ];
  }

  close(): void {
    clearTimeout(this.#settling);
    clearInterval(this.#check);
    for (const watcher of this.#watchers) watcher.close();
  }

  #schedule(): void {
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => void this.#reload(), SETTLE_MS);
    this.#settling.unref();
  }

  async #reload(): Promise<void> {
    const { files, host, onRenewal, onWarning } = this.#options;
    try {
      const next = await readCertificate(files, host);
      if (next.cert.equals(this.#current.cert) && next.key.equals(this.#current.key)) return;
      if (next.problem !== undefined) return onWarning(`The new TLS certificate is not used: ${next.problem.message}`);
      this.#current = next;
      onRenewal(next);
      for (const warning of this.warnings) onWarning(warning);
    } catch (error) {
      onWarning(`The new TLS certificate is not used: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
