// The servers of docs/login.md, with their authorization servers, and a browser whose person agrees to everything.

import type { ReaderOptions } from "../reader.ts";
import { startAuthorizationServer } from "./authorization-server.ts";
import { ProtectedServer } from "./protected-server.ts";

const SECRET = "the-secret-of-the-client";
/** Follows the redirects to the hub's page, with cookies. */
const BROWSER = `#!/usr/bin/env node
(async () => {
  const cookies = new Map();
  for (let url = process.argv[2], count = 0; url && count < 20; count++) {
    const headers = { cookie: [...cookies.values()].join("; ") };
    const response = await fetch(url, { redirect: "manual", headers });
    for (const line of response.headers.getSetCookie()) cookies.set(line.split("=", 1)[0], line.split(";", 1)[0]);
    const location = response.headers.get("location");
    url = location && new URL(location, url).href;
  }
})();
`;

export interface DocumentedLogins extends ReaderOptions {
  readonly close: () => Promise<void>;
}

export async function openDocumentedLogins(): Promise<DocumentedLogins> {
  const client = {
    client_id: "123.456",
    client_secret: SECRET,
    redirect_uris: ["http://localhost/oauth/callback"],
    application_type: "native" as const,
    grant_types: ["authorization_code", "refresh_token"],
  };
  const issuers = await Promise.all([
    startAuthorizationServer(),
    startAuthorizationServer({ registration: false, clients: [client] }),
  ]);
  const servers = await Promise.all(issuers.map(({ issuer }) => ProtectedServer.open([issuer])));
  for (const [index, { url, allScopes }] of servers.entries()) issuers[index]?.settings.resources.set(url, allScopes);
  const [linear, slack] = servers.map(({ url }) => url);
  return {
    hasScreen: true,
    places: [
      ["https://mcp.linear.app/mcp", linear ?? ""],
      ["https://mcp.slack.com/mcp", slack ?? ""],
    ],
    files: { "bin/xdg-open": BROWSER, "client-secret": `${SECRET}\n` },
    close: async () => {
      for (const each of [...servers, ...issuers]) await each.close();
    },
  };
}
