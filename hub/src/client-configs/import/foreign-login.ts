// How a client logs in to one of its servers, from the settings of all clients.

import { readForeignOAuth, type ForeignTokens } from "../../config/parse/foreign-oauth.ts";
import type { JsonObject } from "../../config/parse/plain-object.ts";
import { isObject } from "../../lib/json/json.ts";
import type { Client } from "../client.ts";

export interface ForeignLogin {
  readonly auth?: JsonObject | false;
  /** Of a login that can be continued. */
  readonly tokens?: ForeignTokens;
  readonly notes: readonly string[];
}

/** The path of the hub's redirect URI. */
const REDIRECT_PATH = "/oauth/callback";

export function readLogin(entry: Readonly<Record<string, unknown>>, client: Client): ForeignLogin {
  const notes: string[] = [];
  if (entry["headersHelper"] !== undefined) {
    notes.push("headersHelper runs a program for the headers, which the hub does not do: set headers or auth instead");
  }
  const provider = entry["authProviderType"];
  if (typeof provider === "string" && provider !== "dynamic_discovery") {
    // Its `oauth` has the scopes for Google, which mean nothing to the server.
    return {
      notes: [...notes, `${client.name} logs in with Google credentials (${provider}), which the hub cannot do`],
    };
  }
  const key = isObject(entry["oauth"]) || entry["oauth"] === false ? "oauth" : "auth";
  const oauth = entry[key];
  const { auth, unused, tokens, redirectUri } = readForeignOAuth(
    isObject(oauth) ? { redirect_uri: client.redirectUri, ...oauth } : oauth,
  );
  for (const member of unused) notes.push(`"${key}.${member}" of ${client.name} has no equivalent and is ignored`);
  if (auth === false) return { auth, notes };
  const found: JsonObject = { ...auth, ...ofCodex(entry) };
  if (found["client_id"] !== undefined && !isHubRedirect(redirectUri)) {
    notes.push("its OAuth client must allow the redirect URI of the hub, which plugboard auth shows");
  }
  // Tokens can be used only with the client that they were given to.
  const isUsable = found["client_id"] !== undefined;
  if (Object.keys(tokens).length > 0 && !isUsable) {
    notes.push(`the login of ${client.name} is not taken over: log in again with plugboard auth`);
  }
  return {
    ...(Object.keys(found).length === 0 ? {} : { auth: found }),
    ...(isUsable ? { tokens } : {}),
    notes,
  };
}

function isHubRedirect(uri: string | undefined): boolean {
  if (uri === undefined || !URL.canParse(uri)) return false;
  const { protocol, hostname, pathname } = new URL(uri);
  return protocol === "http:" && /^(?:localhost|127\.0\.0\.1)$/.test(hostname) && pathname === REDIRECT_PATH;
}

/** Codex has some settings beside the others. */
function ofCodex({ scopes, oauth_resource: resource }: Readonly<Record<string, unknown>>): JsonObject {
  return {
    ...(Array.isArray(scopes) ? { scopes: scopes.filter((scope) => typeof scope === "string") } : {}),
    ...(typeof resource === "string" ? { resource } : {}),
  };
}
