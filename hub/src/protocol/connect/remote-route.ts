// The route to a remote server: its proxy, if any, and the TLS settings. Shared by all transports.

import { readFile } from "node:fs/promises";
import type { SecureContextOptions } from "node:tls";
import { HubError } from "../../errors.ts";
import { proxyFor, type ProxyChoice } from "./proxy.ts";

export interface RemoteRoute {
  readonly proxy?: URL;
  readonly tls?: TlsSettings;
}

export interface TlsSettings extends Pick<SecureContextOptions, "ca" | "cert" | "key"> {
  readonly servername?: string;
}

interface RouteSettings {
  readonly proxy?: ProxyChoice;
  /** Paths of PEM files, and the name in the certificate if it is not the host's. */
  readonly tls?: Readonly<Partial<Record<"ca" | "cert" | "key" | "servername", string>>>;
}

/** Reads the files again for each new connection, since certificates are renewed. */
export async function findRoute(
  url: URL,
  { proxy: choice, tls }: RouteSettings,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<RemoteRoute> {
  const proxy = proxyFor(url, choice, variables);
  if (proxy instanceof Error) {
    throw new HubError("InvalidConfig", `${proxy.message} (check ${source(choice)})`, { field: "proxy" });
  }
  return { ...(proxy === undefined ? {} : { proxy }), ...(tls === undefined ? {} : { tls: await readTls(tls) }) };
}

function source(choice: ProxyChoice): string {
  return typeof choice === "string" ? "the entry" : "HTTP_PROXY, HTTPS_PROXY and ALL_PROXY";
}

async function readTls({ ca, cert, key, servername }: NonNullable<RouteSettings["tls"]>): Promise<TlsSettings> {
  // Loaded on demand: most hubs have no TLS settings.
  const { rootCertificates } = await import("node:tls");
  return {
    // In addition to the public authorities: a server may change to a public certificate.
    ...(ca === undefined ? {} : { ca: [...rootCertificates, await read("ca", ca)] }),
    ...(cert === undefined ? {} : { cert: await read("cert", cert) }),
    ...(key === undefined ? {} : { key: await read("key", key) }),
    ...(servername === undefined ? {} : { servername }),
  };
}

async function read(what: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new HubError("InvalidConfig", `The file of tls.${what} cannot be read`, { field: `tls.${what}`, detail });
  }
}
