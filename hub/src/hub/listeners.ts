// The hub's listeners: the one that clients use, and, where that is not one for this machine, a second one for this machine.

import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { HubSettingsEntry } from "../config/schema/hub-settings.ts";
import { Listener, type Edge, type ListenerOptions } from "../http/listener.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import type { Certificate, LiveCertificate } from "../network/certificate.ts";
import { localAddressOf, reachableHost, toNetwork, type Network, type NetworkFlags } from "../network/network.ts";
import { isReachable, requireSafeExposure } from "../network/refusals.ts";

export interface ExposureOptions {
  readonly settings: HubSettingsEntry;
  readonly flags: NetworkFlags;
  /** The folder of hub.json. */
  readonly folder: string;
  /** The folder of the secrets. */
  readonly data: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** A network that is safe to listen on. */
export interface SafeNetwork extends Network {
  readonly certificate: Certificate | undefined;
}

const OTHERS = 0o077;

/** Throws if the hub must not listen with these settings. Opens nothing. */
export async function openNetwork({ settings, flags, folder, ...places }: ExposureOptions): Promise<SafeNetwork> {
  const network = toNetwork(settings, flags, folder);
  const host = network.publicUrl === undefined ? undefined : new URL(network.publicUrl).hostname;
  const certificate =
    network.tls === undefined
      ? undefined
      : await (await import("../network/certificate.ts")).readCertificate(network.tls, host);
  requireSafeExposure({
    network,
    certificate,
    isMcpOpen: settings.auth?.mcp !== "required",
    issuers: (settings.auth?.issuers ?? []).map(({ issuer }) => issuer),
    openKeyFiles: isReachable(network) ? await openKeyFiles(places) : [],
  });
  return { ...network, certificate };
}

async function openKeyFiles({ data, variables }: Pick<ExposureOptions, "data" | "variables">): Promise<string[]> {
  const files = [variables["PLUGBOARD_SECRET_KEY_FILE"], join(data, "secrets", "master.key")];
  const open = files.map(async (path) => {
    const info = path === undefined || path === "" ? undefined : await stat(path).catch(() => undefined);
    return info === undefined || process.platform === "win32" || (info.mode & OTHERS) === 0 ? [] : [path ?? ""];
  });
  return (await Promise.all(open)).flat();
}

export interface HubListenersOptions extends Pick<ListenerOptions, "fastPath" | "onDrop"> {
  readonly network: SafeNetwork;
  /** For clients, wherever they are. */
  readonly clientEdges: readonly Edge[];
  /** For those who manage the hub. Tried before the others. */
  readonly adminEdges: readonly Edge[];
  /** For people with an account, where those who manage the hub use the listener for this machine. */
  readonly accountEdges: readonly Edge[];
  readonly onWarning: (message: string) => void;
}

export class HubListeners {
  readonly #network: SafeNetwork;
  readonly #main: Listener;
  readonly #local: Listener | undefined;
  readonly #certificate: LiveCertificate | undefined;

  private constructor(network: SafeNetwork, main: Listener, local?: Listener, certificate?: LiveCertificate) {
    this.#network = network;
    this.#main = main;
    this.#local = local;
    this.#certificate = certificate;
  }

  static async open(options: HubListenersOptions): Promise<HubListeners> {
    const { network, clientEdges, adminEdges, accountEdges, onWarning, ...common } = options;
    const { certificate, isAdminLocal, tls, publicUrl, allowedHosts, allowedOrigins, trustedProxies } = network;
    const all = [...adminEdges, ...clientEdges];
    const main = await Listener.open({
      ...common,
      host: network.host,
      port: network.port,
      publicUrl,
      allowedHosts,
      allowedOrigins: allowedOrigins ?? [],
      trustedProxies,
      edges: isAdminLocal ? [...accountEdges, ...clientEdges] : all,
      isExposed: true,
      tls: certificate,
    });
    const at = localAddressOf(network, main.port);
    let local: Listener | undefined;
    try {
      local = at && (await Listener.open({ ...common, ...at, edges: all }));
    } catch (error) {
      await main.close();
      throw error;
    }
    if (tls === undefined || certificate === undefined) return new HubListeners(network, main, local);
    const { LiveCertificate: Live } = await import("../network/certificate.ts");
    const host = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
    const onRenewal = (next: Certificate) => main.renew(next);
    return new HubListeners(network, main, local, new Live(certificate, { files: tls, host, onRenewal, onWarning }));
  }

  /** For programs of this machine. */
  get url(): string {
    if (this.#local !== undefined) return this.#local.url;
    const { host } = this.#network;
    const reachable = reachableHost(host);
    return reachable === host ? this.#main.url : `http://${reachable}:${this.#main.port}`;
  }

  /** For clients, wherever they are. */
  get publicUrl(): string {
    const { publicUrl, isAdminLocal } = this.#network;
    return publicUrl ?? (isAdminLocal ? this.#main.url : this.url);
  }

  /** What a restart keeps of where it listens: all that hub.json does not say. */
  kept({ listen = {} }: HubSettingsEntry, flags: NetworkFlags): { readonly host?: string; readonly port?: number } {
    return {
      ...(flags.host === undefined && listen.host !== undefined ? {} : { host: this.#network.host }),
      ...(flags.port === undefined && listen.port !== undefined ? {} : { port: this.#main.port }),
    };
  }

  get certificateExpiresInMs(): number | undefined {
    return this.#certificate?.expiresInMs;
  }

  get warnings(): readonly string[] {
    return this.#certificate?.warnings ?? [];
  }

  /** What should not stay as it is. */
  get problems(): readonly string[] {
    const { publicUrl, insecureHttp } = this.#network;
    const isPlain = publicUrl?.startsWith("http:") === true && !isLoopbackHost(new URL(publicUrl).hostname);
    if (!insecureHttp || !isPlain) return [];
    return [`Credentials travel without encryption: public_url is ${publicUrl}, allowed by --insecure-http`];
  }

  drain(): void {
    this.#main.drain();
    this.#local?.drain();
  }

  async close(): Promise<void> {
    this.#certificate?.close();
    await Promise.all([this.#main.close(), this.#local?.close()]);
  }
}
