// Who may use the hub: its tokens in the data folder, and the rules in hub.json.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { AccessTokens } from "./auth/access-tokens.ts";
import { Authenticator } from "./auth/authenticator.ts";
import { ManagementToken, readManagementToken } from "./auth/management-token.ts";
import { readHubSettings } from "./config/files/hub-settings.ts";
import { toHubError } from "./errors.ts";
import type { Redactor } from "./redaction/redactor.ts";

export interface AccessOptions {
  /** The data folder. */
  readonly data: string;
  /** The folder of hub.json; undefined: the defaults apply. */
  readonly settings: string | undefined;
  readonly tokens: AccessTokens;
  readonly redactor: Redactor;
  readonly onWarning: (message: string) => void;
}

export async function openAuthenticator(options: AccessOptions): Promise<Authenticator> {
  const { data, settings: folder, tokens, redactor, onWarning } = options;
  const settings = folder === undefined ? {} : await readHubSettings(folder);
  const management = await ManagementToken.open(data);
  // The owner of the token may pass it to a tool by mistake.
  redactor.setSecrets(ManagementToken, [(await readManagementToken(data)) ?? ""]);
  // A damaged file lets no one in, and does not keep the servers from running.
  await tokens.reload().catch((thrown: unknown) => {
    const { message, hint } = toHubError(thrown);
    onWarning(`No access token works: ${message}.${hint === undefined ? "" : ` ${hint}`}`);
  });
  return new Authenticator({ management, tokens, isMcpOpen: settings.auth?.mcp !== "required" });
}

/** Undefined: they last as long as the process. */
export function openAccessTokens(dataDir: string | undefined, onWarning: (message: string) => void): AccessTokens {
  const path = dataDir === undefined ? undefined : join(dataDir, "identity.db");
  return new AccessTokens({
    hasStore: () => path !== undefined && existsSync(path),
    openStore: async () => (await import("./identity/sqlite-identity.ts")).SqliteIdentity.open(path),
    onWarning,
  });
}
