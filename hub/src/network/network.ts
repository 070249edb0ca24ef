// Where the hub listens and how others reach it: hub.json, and the options of the command, which win.

import type { HubSettingsEntry } from "../config/schema/hub-settings.ts";
import type { Site } from "../http/site-rules.ts";
import { originOf } from "../lib/origin.ts";
import { DEFAULT_HOST, DEFAULT_PORT } from "./defaults.ts";

/** Given for one run. */
export interface NetworkFlags {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

export interface Network extends Site {
  readonly host: string;
  readonly port: number;
}

export function toNetwork(settings: HubSettingsEntry, flags: NetworkFlags = {}): Network {
  const { listen = {}, public_url: publicUrl, allowed_hosts: allowedHosts, allowed_origins: origins } = settings;
  return {
    host: flags.host ?? listen.host ?? DEFAULT_HOST,
    port: flags.port ?? listen.port ?? DEFAULT_PORT,
    publicUrl: publicUrl === undefined ? undefined : originOf(publicUrl),
    allowedHosts: allowedHosts ?? [],
    allowedOrigins: (origins ?? []).flatMap((origin) => originOf(origin) ?? []),
  };
}
