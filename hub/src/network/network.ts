// Where the hub listens and how others reach it: hub.json, and the options of the command, which win.

import { resolve } from "node:path";
import type { HubSettingsEntry } from "../config/schema/hub-settings.ts";
import type { Site } from "../http/site-rules.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import { originOf } from "../lib/origin.ts";
import type { CertificateFiles } from "./certificate.ts";
import { DEFAULT_HOST, DEFAULT_PORT } from "./defaults.ts";

/** Given for one run. */
export interface NetworkFlags {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Allows a public_url without TLS. Never in a file: it must be typed each time. */
  readonly insecureHttp?: boolean | undefined;
}

export interface Network extends Site {
  readonly host: string;
  readonly port: number;
  readonly insecureHttp: boolean;
  /** The hub is managed at the local listener only. */
  readonly isAdminLocal: boolean;
  readonly tls: CertificateFiles | undefined;
  readonly trustedProxies: readonly string[];
  readonly allowedHosts: readonly string[];
}

/** `folder`: of hub.json, for relative paths. */
export function toNetwork(settings: HubSettingsEntry, flags: NetworkFlags = {}, folder = "."): Network {
  const { listen = {}, public_url: publicUrl, tls } = settings;
  return {
    host: flags.host ?? listen.host ?? DEFAULT_HOST,
    port: flags.port ?? listen.port ?? DEFAULT_PORT,
    insecureHttp: flags.insecureHttp ?? false,
    isAdminLocal: listen.admin === "loopback",
    publicUrl: publicUrl === undefined ? undefined : originOf(publicUrl),
    tls: tls === undefined ? undefined : { cert: resolve(folder, tls.cert), key: resolve(folder, tls.key) },
    trustedProxies: settings.trusted_proxies ?? [],
    allowedHosts: settings.allowed_hosts ?? [],
    allowedOrigins: (settings.allowed_origins ?? []).flatMap((origin) => originOf(origin) ?? []),
  };
}

const EVERY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);
const PORT_MAX = 65_535;

/**
 * Where a second listener serves the programs of this machine, over plain HTTP: commands need no certificate that covers a name of
 * this machine, and what only this machine may use has a socket that no proxy in front of the hub leads to. Undefined: the
 * listener itself serves them.
 */
export function localAddressOf(network: Network, port: number): { host: string; port: number } | undefined {
  const { host, tls, isAdminLocal } = network;
  const servesLocal = isLoopbackHost(host) || EVERY_ADDRESS.has(host);
  if (tls === undefined && !isAdminLocal && servesLocal) return undefined;
  if (network.port === 0) return { host: DEFAULT_HOST, port: 0 };
  return { host: DEFAULT_HOST, port: port === PORT_MAX ? port - 1 : port + 1 };
}

/** An address at which programs of this machine reach a listener. */
export function reachableHost(host: string): string {
  return EVERY_ADDRESS.has(host) ? DEFAULT_HOST : host;
}
