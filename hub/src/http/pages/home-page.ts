// The page at the hub's address: what the hub is, and its addresses. Static: no scripts, no external resources, no data.

import type { IncomingMessage, ServerResponse } from "node:http";
import { groupPath } from "../group-path.ts";
import { html, type Html } from "./html.ts";
import { sendPage } from "./page.ts";

interface HomePageOptions {
  readonly version: string;
  /** The hub serves the web interface: browsers go there. */
  readonly hasUi: boolean;
}

/** Answers `/`; returns false for every other path. */
export function homePageEdge({
  version,
  hasUi,
}: HomePageOptions): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (request, response) => {
    const { method, headers } = request;
    if (!isHome(request)) return false;
    if (hasUi && redirectToUi(request, response)) return true;
    // The listener lets only loopback names through, so the Host header is safe to show.
    const main = homePage(`http://${headers.host ?? "127.0.0.1"}`, { version, hasUi });
    sendPage(response, { status: 200, page: { title: "Plugboard", main }, isHead: method === "HEAD" });
    return true;
  };
}

/** Sends a browser from `/` to the web interface; returns false for every other request. */
export function redirectToUi(request: IncomingMessage, response: ServerResponse): boolean {
  if (!isHome(request) || request.headers.accept?.includes("text/html") !== true) return false;
  // Relative: a proxy may serve the hub under a prefix.
  response.writeHead(302, { location: "ui/", vary: "accept" }).end();
  return true;
}

function isHome({ method, url = "" }: IncomingMessage): boolean {
  return url.split("?", 1)[0] === "/" && (method === "GET" || method === "HEAD");
}

function homePage(at: string, { version, hasUi }: HomePageOptions): Html {
  return html`<h1>Plugboard is running</h1>
    <p class="faint">All your MCP servers behind one endpoint. Version ${version}.</p>
    <dl>
      <dt>MCP</dt>
      <dd>
        <code>${at}/mcp</code><br />Give this address to your MCP client, or run
        <code>plugboard install &lt;client&gt;</code>.
      </dd>
      <dt>One group</dt>
      <dd>
        <code>${at}${groupPath("GROUP").replace("GROUP", "<group>")}</code><br /><code>plugboard status</code> lists the
        groups and their addresses.
      </dd>
      <dt>API</dt>
      <dd>
        <code>${at}/api/v1</code><br />For programs, with the token that is in the file <code>token</code> of the hub's
        data folder.
      </dd>
      <dt>Commands</dt>
      <dd>
        <code>plugboard ls</code>, <code>plugboard tools</code>, <code>plugboard calls -f</code>,
        <code>plugboard --help</code>
      </dd>
    </dl>
    ${
      hasUi
        ? html`<p>Web interface: <a href="ui/">${at}/ui/</a></p>`
        : html`<p class="faint">This hub was started without its web interface.</p>`
    }`;
}
