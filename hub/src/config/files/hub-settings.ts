// Reads `hub.json` of the config folder. Without the file, the defaults apply.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@plugboard/shared/error-code";
import { HubError, toHubError } from "../../errors.ts";
import { parseJsonText } from "../parse/json.ts";
import { hubSettingsEntry, type HubSettingsEntry } from "../schema/hub-settings.ts";
import { parseWith } from "../schema/schema.ts";

export const HUB_FILE = "hub.json";

/** Throws InvalidConfig: a hub must not start with other rules of access than those that were meant. */
export async function readHubSettings(folder: string): Promise<HubSettingsEntry> {
  const path = join(folder, HUB_FILE);
  try {
    return parseWith(hubSettingsEntry, parseJsonText(await readFile(path, "utf8"), HUB_FILE) ?? {});
  } catch (thrown) {
    if (errorCode(thrown) === "ENOENT") return {};
    const { message, field, kind, hint } = toHubError(thrown);
    throw new HubError(kind === "InvalidConfig" ? kind : "IoError", `${path}: ${message}`, {
      ...(field === undefined ? {} : { field }),
      hint: hint ?? "Correct the file, or move it away: without it, the hub is open to programs of this machine only",
      cause: thrown,
    });
  }
}
