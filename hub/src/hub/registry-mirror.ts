// The mirror of a registry that `registry_mirror` of hub.json names.

import { resolve } from "node:path";
import type { HubSettingsEntry } from "../config/schema/hub-settings.ts";
import type { ServedMirror } from "../registry/mirror/served.ts";

export interface MirrorOptions {
  /** The folder of hub.json. */
  readonly folder: string;
  readonly onWarning: (message: string) => void;
}

/** Undefined: there is none. Warns if it cannot be read. */
export async function openMirror(
  { registry_mirror: path }: HubSettingsEntry,
  { folder, onWarning }: MirrorOptions,
): Promise<ServedMirror | undefined> {
  if (path === undefined) return undefined;
  const { ServedMirror: Loaded } = await import("../registry/mirror/served.ts");
  const mirror = new Loaded({ folder: resolve(folder, path), onWarning });
  await mirror.check();
  return mirror;
}
