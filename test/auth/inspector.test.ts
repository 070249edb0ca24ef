// The MCP Inspector, a web page that runs in a browser, logs in at the hub's own authorization server. Browsers let a page ask a hub
// of another origin only if the hub allows that origin.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Grant } from "../../hub/src/auth/grant.ts";
import { noBrowser, useBrowser } from "../support/browser.ts";
import { startBackground, type Background } from "../support/oauth/background.ts";
import { openIssuerHub, OWNER, type IssuerHub } from "../support/oauth/issuer-hub.ts";
import { freePort } from "../support/sockets.ts";

const FOLDER = fileURLToPath(new URL("../.inspector", import.meta.url));
const PROGRAM = `${FOLDER}/node_modules/@modelcontextprotocol/inspector/client/bin/start.js`;
/** It is larger than everything else that the tests need, so that it is no dependency of the project. */
const INSTALL = "npm install --ignore-scripts --prefix test/.inspector @modelcontextprotocol/inspector@0.22.0";
const missing = existsSync(PROGRAM) ? noBrowser : ` (skipped: ${INSTALL})`;

describe.skipIf(missing !== undefined)(`AU-4 the MCP Inspector${missing ?? ""}`, () => {
  const browser = useBrowser();
  let at: IssuerHub;
  let inspector: Background;
  let origin: string;
  let proxy: string;

  beforeAll(async () => {
    const [pagePort, proxyPort] = [await freePort(), await freePort()];
    origin = `http://localhost:${pagePort}`;
    proxy = `http://localhost:${proxyPort}`;
    at = await openIssuerHub({ settings: { allowed_origins: [origin] } });
    inspector = await startBackground([process.execPath, PROGRAM], {
      url: origin,
      withinMs: 60_000,
      env: {
        CLIENT_PORT: `${pagePort}`,
        SERVER_PORT: `${proxyPort}`,
        MCP_AUTO_OPEN_ENABLED: "false",
        HOST: "localhost",
      },
    });
  });

  afterAll(async () => {
    await inspector?.close();
    await at?.end();
  });

  it("logs in from its page, lists the tools and calls one", async () => {
    const token = /MCP_PROXY_PORT=\d+&MCP_PROXY_AUTH_TOKEN=\w+/.exec(inspector.output())?.[0] ?? "";
    const query = `transport=streamable-http&serverUrl=${encodeURIComponent(`${at.url}/mcp/dev`)}&${token}`;
    const person = await browser.open({ url: origin });
    // It asks its own proxy, which asks the hub; but its page logs in at the hub itself.
    person.expectFault(/^request to http:/);
    person.expectFault(/status of 40[14]|Failed to connect to MCP Server.*needs an access token/);
    const { page } = person;
    await page.goto(`${origin}/?${query}`);
    // The address of its proxy is kept, unlike that in the query, when the browser comes back from the hub.
    await page.getByTestId("config-button").click();
    await page.getByTestId("MCP_PROXY_FULL_ADDRESS-input").fill(proxy);
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    const command = await page.locator("code").innerText();
    at.hub.issuer?.approve(command.split(" ").at(-1) ?? "", new Grant(OWNER));
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByRole("tab", { name: "Tools" }).click();
    await page.getByRole("button", { name: "List Tools" }).click();
    await page
      .getByText(/^read[_ ]graph$/i)
      .first()
      .click();
    await page.getByRole("button", { name: "Run Tool" }).click();
    await page.getByText("Tool Result: Success").waitFor();
    expect(await at.hub.issuer?.logins()).toEqual([
      expect.objectContaining({ clientName: "MCP Inspector", groups: ["dev"], redirectHost: "localhost" }),
    ]);
  });
});
