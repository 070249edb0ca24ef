// Where the other hubs of a cluster reach this one: `cluster` of hub.json.

import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { resolve } from "node:path";
import type { HubSettingsEntry } from "../config/schema/hub-settings.ts";
import { HubError } from "../errors.ts";
import { isLoopbackHost } from "../lib/loopback.ts";

export interface PeerSettings {
  readonly host: string;
  readonly port: number;
  /** The address for the other hubs, if it is not that of the listener. */
  readonly url: string | undefined;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer; readonly ca: Buffer | undefined } | undefined;
}

const DEFAULT_LISTEN = "127.0.0.1:0";
const EVERY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);
const LISTEN = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]\s]+)):(\d{1,5})$/;

/** `folder`: of hub.json, for relative paths. Throws InvalidConfig if others could read or change what hubs say to each other. */
export async function readPeerSettings(
  { cluster = {} }: Pick<HubSettingsEntry, "cluster">,
  folder: string,
): Promise<PeerSettings> {
  const { listen = DEFAULT_LISTEN, url, tls, trust_network: isTrusted = false } = cluster;
  const [, six, name, digits] = LISTEN.exec(listen) ?? [];
  const host = six ?? name;
  const port = Number(digits);
  if (host === undefined || port > 65_535 || (six !== undefined && !isIPv6(six))) {
    throw invalid(
      "cluster.listen",
      `cluster.listen is "${listen}", and must be an address and a port`,
      "As 10.0.0.1:7431",
    );
  }
  if (!isLoopbackHost(host) && tls === undefined && !isTrusted) {
    throw invalid(
      "cluster.listen",
      `cluster.listen is ${listen}: what hubs tell each other would be readable on the network`,
      "Set cluster.tls, or cluster.trust_network to true if that network is private",
    );
  }
  if (EVERY_ADDRESS.has(host) && url === undefined) {
    throw invalid(
      "cluster.url",
      `cluster.listen is ${listen}, and no address for the other hubs is given`,
      `Set cluster.url, as ${tls === undefined ? "http" : "https"}://hub1.internal:${port}`,
    );
  }
  const scheme = tls === undefined ? "http:" : "https:";
  if (url !== undefined && (!URL.canParse(url) || new URL(url).protocol !== scheme)) {
    throw invalid(
      "cluster.url",
      `cluster.url is "${url}", and must begin with ${scheme}//`,
      "As https://hub1.internal:7431",
    );
  }
  if (tls === undefined) return { host, port, url, tls: undefined };
  const read = async (field: string, path: string) => {
    try {
      return await readFile(resolve(folder, path));
    } catch (error) {
      throw new HubError("InvalidConfig", `Cannot read cluster.tls.${field}: ${path}`, {
        field: "cluster.tls",
        cause: error,
      });
    }
  };
  const [cert, key, ca] = await Promise.all([
    read("cert", tls.cert),
    read("key", tls.key),
    tls.ca === undefined ? undefined : read("ca", tls.ca),
  ]);
  return { host, port, url, tls: { cert, key, ca } };
}

function invalid(field: string, message: string, hint: string): HubError {
  return new HubError("InvalidConfig", message, { field, hint });
}
