// TLS certificates for tests, made by openssl.

import { execFile } from "node:child_process";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const NAMES = "DNS:hub.example.com,DNS:localhost,IP:127.0.0.1";
const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"];

export interface CertificateRequest {
  /** Name of its files. */
  readonly name?: string;
  /** Whole days; negative: it has expired. */
  readonly days?: number;
}

/** A self-signed certificate for hub.example.com and this machine, and its key, in a folder. */
export async function makeCertificate(
  folder: string,
  { name = "hub", days = 90 }: CertificateRequest = {},
): Promise<{ readonly cert: string; readonly key: string }> {
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  const subject = ["-subj", "/CN=hub.example.com", "-addext", `subjectAltName=${NAMES}`];
  await run("openssl", ["req", "-x509", ...KEY, ...subject, "-keyout", key, "-out", cert, "-days", "90"]);
  // Only this command takes a time in the past.
  if (days !== 90) await run("openssl", ["x509", "-in", cert, "-signkey", key, "-days", String(days), "-out", cert]);
  await chmod(key, 0o600);
  return { cert, key };
}
