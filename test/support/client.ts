// The management API of a hub that runs in its own process.

import { join } from "node:path";
import { HubClient } from "../../hub/src/api/client/client.ts";
import { readManagementToken } from "../../hub/src/auth/management-token.ts";
import type { Home, RunningHub } from "./hub.ts";

/** The management token of a home in which a hub has been started. */
export async function tokenOf(home: Pick<Home, "dir">): Promise<string> {
  const token = await readManagementToken(join(home.dir, "data"));
  if (token === undefined) throw new Error(`No management token in ${home.dir}`);
  return token;
}

export async function clientOf({ url, home }: Pick<RunningHub, "url" | "home">): Promise<HubClient> {
  return new HubClient({ url, token: await tokenOf(home) });
}
