// A link that signs a browser in to the web interface of a running hub.

import { HubError } from "../../errors.ts";
import type { RunningHub } from "./find-hub.ts";

/** Undefined if the hub serves no web interface. */
export async function makeUiLink({ url, client }: RunningHub): Promise<string | undefined> {
  try {
    const made = new URL((await client.createUiKey()).url);
    // The address by which this command reaches the hub: a proxy may be in between.
    return `${url}/ui/${made.hash}`;
  } catch (error) {
    if (error instanceof HubError && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}
