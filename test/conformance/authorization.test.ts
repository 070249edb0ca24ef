// The official suite against the hub's own authorization server.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { consent, openIssuerHub, StepClient, type IssuerHub } from "../support/oauth/issuer-hub.ts";
import { runAuthorizationSuite } from "./suite.ts";

describe("AU-4 the official suite of authorization servers", () => {
  let at: IssuerHub;

  beforeAll(async () => {
    at = await openIssuerHub();
  });

  afterAll(() => at.end());

  it("passes each scenario", async () => {
    const client = new StepClient(at.url, "http://127.0.0.1/callback");
    await client.register();
    const found = await runAuthorizationSuite(at.url, {
      clientId: client.id,
      open: async (url) => fetch((await consent(at, url, { fields: { group: "dev" } })).url),
    });
    expect(Object.fromEntries(found)).toEqual({
      "authorization-server-authorization-server-metadata-endpoint": [],
      "authorization-server-authorization-code-grant": [],
    });
  });
});
