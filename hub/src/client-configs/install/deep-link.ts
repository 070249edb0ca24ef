// Links that add the hub to a client when they are opened in a browser.

import type { JsonObject } from "../../config/parse/plain-object.ts";
import type { Client } from "../client.ts";
import { HUB_NAME } from "./hub-entry.ts";

/** Undefined if the client has no such links. */
export function toDeepLink({ id }: Client, entry: JsonObject): string | undefined {
  const config = encodeURIComponent(Buffer.from(JSON.stringify(entry)).toString("base64"));
  switch (id) {
    case "cursor":
      return `cursor://anysphere.cursor-deeplink/mcp/install?name=${HUB_NAME}&config=${config}`;
    case "vscode":
      return `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: HUB_NAME, ...entry }))}`;
    case "lmstudio":
      return `lmstudio://add_mcp?name=${HUB_NAME}&config=${config}`;
    default:
      return undefined;
  }
}
