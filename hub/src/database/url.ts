// Where the database is, from its URL. TLS is the default and verifies the server; only connections within this machine may be plain.

import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { HubError } from "../errors.ts";

/** As the driver takes it. Plain data: it is passed to a thread. */
export interface DatabaseAddress {
  /** A folder if it is a socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string;
  readonly ssl: false | { readonly rejectUnauthorized: true; readonly ca: string | undefined };
}

const DEFAULT_PORT = 5432;
const PARAMETERS = ["host", "sslmode", "sslrootcert"];

/** `field`: the setting, for errors, which never show the URL: it contains the password. */
export function parseDatabaseUrl(text: string, field: string): DatabaseAddress {
  const invalid = (message: string, hint: string) => new HubError("InvalidConfig", message, { field, hint });
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["postgres:", "postgresql:"].includes(url.protocol)) {
    throw invalid(
      `${field} is not the address of a PostgreSQL database`,
      "Write postgres://user:password@host:5432/database",
    );
  }
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    throw invalid(`${field} has the unknown parameter ${unknown}`, `Use only ${PARAMETERS.join(", ")}`);
  }
  const host = url.searchParams.get("host") ?? decodeURIComponent(url.hostname).replaceAll(/^\[|\]$/g, "");
  if (host === "" || host.includes(",")) {
    throw invalid(`${field} must name one host`, "For a cluster of databases, name its proxy or virtual address");
  }
  const database = decodeURIComponent(url.pathname.slice(1));
  if (database === "") throw invalid(`${field} names no database`, "Write it after the host: postgres://host/database");
  return {
    host,
    port: url.port === "" ? DEFAULT_PORT : Number(url.port),
    user: decodeURIComponent(url.username) || undefined,
    password: decodeURIComponent(url.password) || undefined,
    database,
    ssl: toTls(url.searchParams, host, invalid),
  };
}

function toTls(
  parameters: URLSearchParams,
  host: string,
  invalid: (message: string, hint: string) => HubError,
): DatabaseAddress["ssl"] {
  const mode = parameters.get("sslmode") ?? (isThisMachine(host) ? "disable" : "verify-full");
  const path = parameters.get("sslrootcert");
  if (mode === "disable") {
    if (isThisMachine(host)) return false;
    throw invalid(
      `The database at ${host} would be reached without TLS: its passwords and secrets could be read on the way`,
      "Leave out sslmode=disable; with a certificate of your own, add sslrootcert=/path/to/ca.pem",
    );
  }
  if (mode !== "verify-full") {
    throw invalid(`sslmode=${mode} does not verify the server`, "Use sslmode=verify-full, which is the default");
  }
  return { rejectUnauthorized: true, ca: path === null ? undefined : readCertificate(path, invalid) };
}

function readCertificate(path: string, invalid: (message: string, hint: string) => HubError): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw invalid(`The certificate ${path} cannot be read`, "Correct sslrootcert in the address of the database");
  }
}

function isThisMachine(host: string): boolean {
  if (host.startsWith("/") || host === "localhost" || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}

/** For messages: without user and password. */
export function describeAddress({ host, port, database }: DatabaseAddress): string {
  return host.startsWith("/") ? `${database} at ${host}` : `${database} at ${host}:${port}`;
}
