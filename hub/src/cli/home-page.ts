// What a browser sees at the hub's address as long as there is no web interface: what this is, and where to go. No scripts,
// nothing from elsewhere, and nothing that is not the same for everybody.

import type { IncomingMessage, ServerResponse } from "node:http";
import { VERSION } from "../version.ts";

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** Answers `/`; false for every other address. */
export function homePageEdge(request: IncomingMessage, response: ServerResponse): boolean {
  const { method, url = "" } = request;
  if (url.split("?", 1)[0] !== "/" || (method !== "GET" && method !== "HEAD")) return false;
  // The listener has let nothing but a loopback name through, with any port: an address is shown as the browser has it.
  const page = Buffer.from(homePage(`http://${request.headers.host ?? "127.0.0.1"}`));
  response.writeHead(200, { ...HEADERS, "content-length": page.length });
  response.end(method === "HEAD" ? undefined : page);
  return true;
}

function homePage(address: string): string {
  const at = escape(address);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Plugboard</title>
<style>
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1.25rem; }
  h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .5rem 1.25rem; margin: 1.5rem 0; }
  dt { font-weight: 600; }
  dd { margin: 0; overflow-wrap: anywhere; }
  code { font: .9em/1.4 ui-monospace, monospace; background: rgb(128 128 128 / .15); padding: .1em .35em; border-radius: .25em; white-space: nowrap; }
  .faint { opacity: .75; }
  @media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } }
</style>
</head>
<body>
<main>
<h1>Plugboard is running</h1>
<p class="faint">All your MCP servers behind one endpoint. Version ${escape(VERSION)}.</p>
<dl>
  <dt>MCP</dt><dd><code>${at}/mcp</code><br>Give this address to your MCP client, or run <code>plugboard install &lt;client&gt;</code>.</dd>
  <dt>One group</dt><dd><code>${at}/mcp/&lt;group&gt;</code><br><code>plugboard status</code> lists the groups and their addresses.</dd>
  <dt>API</dt><dd><code>${at}/api/v1</code><br>For programs, with the token that is in the file <code>token</code> of the hub's data folder.</dd>
  <dt>Commands</dt><dd><code>plugboard ls</code>, <code>plugboard tools</code>, <code>plugboard calls -f</code>, <code>plugboard --help</code></dd>
</dl>
<p class="faint">There is no web interface yet.</p>
</main>
</body>
</html>
`;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
